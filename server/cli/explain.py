"""``pet explain``: what the rules make of a message. No server and no model: it only thinks aloud."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import typer
from pydantic import ValidationError

from server.agent.dependence import dependence
from server.agent.references import resolve
from server.agent.route import route
from server.agent.state import ConversationState
from server.cli.place import FAILED, readable_errors
from server.session.context import sanitise

_BATCH: Final = 256


def run(config: Path | None, text: str | None, *, from_stdin: bool) -> None:
    """Prints one JSON object: for ``text``, or for each line of the standard input.

    Tools count as available, unless the ``config`` that is named turns them off. The JSON is plain ASCII, so
    that it survives any terminal's encoding.
    """
    if (text is None) != from_stdin:
        raise typer.BadParameter("give a text, or --stdin")
    tools = _tools_enabled(config)
    if text is not None:
        typer.echo(json.dumps(explain(text, tools=tools)))
    elif not _explain_lines(sys.stdin.buffer, tools):
        raise typer.Exit(FAILED)


def explain(
    text: str,
    *,
    history: list[str] | None = None,
    context: Any = None,
    state: ConversationState | None = None,
    tools: bool = True,
) -> dict[str, Any]:
    """The route, the dependence and the resolved references of a message.

    Args:
        history: the messages before it, oldest first.
        context: what came with it, as raw as from a client.
    """
    state = state or ConversationState()
    depends = dependence(text, history)
    refs = resolve(text, state)
    way = route(text, sanitise(context), tools, refs=refs, last_tool=state.last_tool)
    return {
        "route": {"path": way.path, "reasons": way.reasons},
        "dependence": {
            "dependent": depends.dependent,
            "score": depends.score,
            "reasons": depends.reasons,
        },
        "resolved_refs": [reference.as_json() for reference in refs],
    }


def _tools_enabled(config: Path | None) -> bool:
    if config is None:
        return True
    from server.config.load import load

    with readable_errors():
        return load(config).config.agent.enable_tools


def _explain_lines(lines: BinaryIO, tools: bool) -> bool:
    """One answer a line, in order; whether every line could be read."""
    good = True
    answers: list[str] = []
    for answer, was_good in _answers(lines, tools):
        good = good and was_good
        answers.append(answer)
        if len(answers) == _BATCH:
            _write(answers)
    _write(answers)
    return good


def _write(answers: list[str]) -> None:
    sys.stdout.write("".join(answers))
    sys.stdout.flush()
    answers.clear()


def _answers(lines: BinaryIO, tools: bool) -> Iterator[tuple[str, bool]]:
    for number, raw in enumerate(lines):
        try:
            answer: Any = _explain_line(raw.removeprefix(b"\xef\xbb\xbf") if number == 0 else raw, tools)
            good = True
        except ValueError as error:
            answer, good = {"error": str(error)}, False
        yield json.dumps(answer) + "\n", good


def _explain_line(raw: bytes, tools: bool) -> dict[str, Any]:
    """
    Raises:
        ValueError: the line is no such object, and why.
    """
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("the line is no JSON in UTF-8") from None
    if not isinstance(data, dict):
        raise ValueError("the line is no JSON object")
    text = data.get("text")
    if not isinstance(text, str):
        raise ValueError("text: a string is needed")
    return explain(
        text,
        history=_history(data.get("history")),
        context=data.get("context"),
        state=_state(data.get("state")),
        tools=tools,
    )


def _history(raw: Any) -> list[str] | None:
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise ValueError("history: a list is needed")
    return [_said(message) for message in raw]


def _said(message: Any) -> str:
    said = message.get("text", message.get("content")) if isinstance(message, Mapping) else message
    if not isinstance(said, str):
        raise ValueError("history: each message is a text, or an object with a text")
    return said


def _state(raw: Any) -> ConversationState | None:
    if raw is None:
        return None
    try:
        return ConversationState.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in ("state", *first["loc"]))
        raise ValueError(f"{where}: {first['msg']}") from None
