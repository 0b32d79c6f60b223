"""``pet doctor``: is everything that the companion needs in order?"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn

from server import __version__
from server.cli.output import printable
from server.cli.place import FAILED, INVALID_CONFIG, not_prepared, terminal_locale
from server.config.locate import Location, locate, prepare
from server.config.problems import ConfigError
from server.config.store import ConfigStore
from server.errors import PetError
from server.gateway.token import TokenFile
from server.log import set_up_logging
from server.messages import render
from server.models.hub import ModelHub
from server.protocol import Role
from server.storage.file import inspect

Verdict = Literal["ok", "warning", "broken", "off"]
_MARKS: dict[Verdict, str] = {
    "ok": "[green]✓[/]",
    "warning": "[yellow]![/]",
    "broken": "[red]✗[/]",
    "off": "[dim]–[/]",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one thing.

    Attributes:
        details: further facts for ``--json``.
    """

    subject: str
    name: str
    verdict: Verdict
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "name": self.name,
            "verdict": self.verdict,
            "message": self.message,
            **self.details,
        }


def run(config: Path | None, data_dir: Path | None, *, as_json: bool) -> None:
    """Prints what was found; exits with 2 for an invalid file and 1 where something needed is broken."""
    location = locate(config, data_dir)
    try:
        prepare(location)
        set_up_logging(location.data_dir, terminal=False)
    except OSError as error:
        _report([Finding("data folder", location.data_dir.name, "broken", not_prepared(error))], as_json)
        raise typer.Exit(FAILED) from None
    try:
        store = ConfigStore(location.config, location.data_dir)
    except ConfigError as error:
        problems = [
            Finding("configuration", problem.file, "broken", problem.render(terminal_locale()))
            for problem in error.problems
        ]
        _report(problems, as_json)
        raise typer.Exit(INVALID_CONFIG) from None
    findings = asyncio.run(_examine(location, store, quiet=as_json))
    _report(findings, as_json)
    if any(finding.verdict == "broken" for finding in findings):
        raise typer.Exit(FAILED)


async def _examine(location: Location, store: ConfigStore, *, quiet: bool) -> list[Finding]:
    language = terminal_locale()
    hub = ModelHub(store, store.keys, location.data_dir)
    needed = {store.config.agent.models.role(role).provider for role in ("chat", "tool", "vision")}
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:

            async def provider(name: str) -> Finding:
                task = progress.add_task(name)
                try:
                    return await _provider(hub, name, needed=name in needed)
                finally:
                    progress.remove_task(task)

            providers = await asyncio.gather(*map(provider, store.config.llm.providers))
            task = progress.add_task(render("doctor.roles", language))
            await hub.start()
            tested = {finding.name: finding for finding in providers}
            roles = [await _role(hub, role, tested) for role in ("chat", "tool", "vision")]
            progress.remove_task(task)
            servers = await _mcp_servers(store, progress)
    finally:
        await hub.aclose()
    found = render("doctor.configuration_ok", language)
    return [
        Finding("configuration", location.shown, "ok", found),
        *providers,
        *roles,
        *servers,
        _data_folder(location),
    ]


async def _provider(hub: ModelHub, name: str, *, needed: bool) -> Finding:
    language = terminal_locale()
    tested = await hub.test(name, language)
    if tested.ok:
        message = render("doctor.provider_ok", language, ms=tested.latency_ms or 0)
        return Finding("provider", name, "ok", message, {"latency_ms": tested.latency_ms})
    verdict: Verdict = "broken" if needed else "off"
    return Finding("provider", name, verdict, tested.message or "", {"code": tested.code})


async def _role(hub: ModelHub, role: Role, tested: Mapping[str, Finding]) -> Finding:
    """``tested`` is what was found out about each provider: a role is no better than its own."""
    language = terminal_locale()
    try:
        model = await hub.resolve(role)
    except PetError as error:
        if role == "vision" and error.code == "needs_model":
            return Finding("role", role, "off", render("doctor.no_vision_model", language))
        hint = error.hint(language)
        message = " ".join(filter(None, (error.message(language), hint)))
        return Finding("role", role, "broken", message, {"code": error.code})
    details: dict[str, Any] = {
        "provider": model.provider,
        "model": model.model,
        "context_tokens": model.context_tokens,
        "demo": model.demo,
    }
    provider = tested[model.provider]
    if provider.verdict != "ok":
        details["code"] = provider.details.get("code")
        return Finding("role", role, "broken", provider.message, details)
    if hub.lists(model) is False:
        message = render("doctor.model_unknown", language, provider=model.provider, model=model.model)
        return Finding("role", role, "broken", message, {**details, "code": "needs_model"})
    if model.demo:
        return Finding("role", role, "warning", render("doctor.demo", language), details)
    context = render(
        "doctor.context_known" if model.context_tokens else "doctor.context_unknown",
        language,
        tokens=model.context_tokens or 0,
    )
    return Finding("role", role, "ok", f"{model.provider}: {model.model}, {context}", details)


async def _mcp_servers(store: ConfigStore, progress: Progress) -> list[Finding]:
    """Starts each configured server once; a broken one only leaves its tools out, so it is a warning."""
    from tools.mcp.servers import McpServers

    language = terminal_locale()
    servers = McpServers(store)
    task = progress.add_task("MCP")
    servers.start()
    try:
        await servers.settled()
        found = servers.status(language)
    finally:
        await servers.aclose()
        progress.remove_task(task)
    findings = []
    for server in found:
        details = {"state": server.state, "tools": server.tools}
        if server.state == "ready":
            message = render("doctor.mcp_ready", language, tools=server.tools)
            findings.append(Finding("MCP server", server.name, "ok", message, details))
        elif server.state == "disabled":
            message = render("doctor.mcp_disabled", language)
            findings.append(Finding("MCP server", server.name, "off", message, details))
        else:
            message = server.error or server.state
            findings.append(Finding("MCP server", server.name, "warning", message, details))
    return findings


def _data_folder(location: Location) -> Finding:
    language = terminal_locale()
    try:
        with tempfile.TemporaryFile(dir=location.data_dir):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = render("doctor.data_folder_broken", language, reason=reason)
        return Finding("data folder", location.data_dir.name, "broken", message)
    try:
        TokenFile(location.data_dir).check()
    except OSError as error:
        message = render("doctor.token_broken", language, reason=error.strerror or type(error).__name__)
        return Finding("data folder", location.data_dir.name, "broken", message)
    problem = inspect(location.data_dir / "pet.db")
    if problem is not None:
        message = render(f"doctor.database_{problem}", language)
        return Finding("data folder", location.data_dir.name, "broken", message)
    return Finding("data folder", location.data_dir.name, "ok", render("doctor.data_folder_ok", language))


def _report(findings: list[Finding], as_json: bool) -> None:
    broken = any(finding.verdict == "broken" for finding in findings)
    if as_json:
        report = {
            "version": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            "system": sys.platform,
            "ok": not broken,
            "findings": [finding.as_json() for finding in findings],
        }
        typer.echo(printable(json.dumps(report, ensure_ascii=False, indent=2)))
        return
    console = Console()
    for finding in findings:
        mark = _MARKS[finding.verdict]
        head = f"{mark} [bold]{escape(finding.subject)}[/] {escape(printable(finding.name))}"
        console.print(f"{head}  {escape(printable(finding.message))}", soft_wrap=True)
