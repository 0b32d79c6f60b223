"""One whole answer of a model, with the remedies that a refusal suggests: what a provider doesn't take is
left out, and remembered, so that nothing is refused twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from server.models.chat import PASSING, Patience, Tries
from server.models.client import Client
from server.models.completion import (
    Completion,
    Wanted,
    WithoutOption,
    WithoutTool,
    WithoutTools,
    read_completion,
    remedy,
)
from server.models.failure import (
    Asked,
    HttpRefusal,
    TransportFailure,
    reported_in_stream,
    status_failure,
    unreachable,
    unreadable,
)
from server.models.profile import Memory, Option
from server.models.tool_schema import tool_definition

_MAX_REMEDIES: Final = 12
_PROBE_NAME: Final = "report_ready"
_PROBE_TOOL: Final = tool_definition(
    _PROBE_NAME, "Reports that you are ready.", {"type": "object", "properties": {}}
)
_PROBE_MESSAGES: Final = (
    {"role": "system", "content": "You act only by calling tools."},
    {"role": "user", "content": f"Call the tool {_PROBE_NAME} now."},
)


class RefusedTools:
    """Tools whose schema a provider refused, for the life of the process: a changed one is tried again."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def add(self, tool: Mapping[str, Any]) -> None:
        self._refused.add(_fingerprint(tool))

    def without(self, tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        if not self._refused:
            return list(tools)
        return [tool for tool in tools if _fingerprint(tool) not in self._refused]


async def complete(
    client: Client,
    asked: Asked,
    memory: Memory,
    wanted: Wanted,
    *,
    patience: Patience,
    refused_tools: RefusedTools,
) -> Completion:
    """The model's whole answer.

    Raises:
        PetError: as :func:`server.models.chat.stream_chat` does; ``provider_unreachable`` also where no
            answer came within ``patience.answer_s``.
    """
    profile = memory.profile
    known: list[Option] = list(profile.refused)
    refused: list[Option] = []
    tools_refused = False
    given = wanted.tools
    if profile.tools is False:
        wanted = wanted.without_tools()
    wanted = replace(wanted, tools=refused_tools.without(wanted.tools))
    tries = Tries(patience)
    for _ in range(_MAX_REMEDIES):
        without = [*known, *refused]
        body = wanted.body(asked.model, without)
        try:
            async with asyncio.timeout(patience.answer_s):
                data = await client.post(body)
            break
        except HttpRefusal as refusal:
            match remedy(refusal, body, without):
                case WithoutOption(option):
                    refused.append(option)
                    continue
                case WithoutTool(name):
                    wanted = replace(wanted, tools=_drop(wanted.tools, name, refused_tools))
                    continue
                case WithoutTools():
                    tools_refused = True
                    wanted = wanted.without_tools()
                    continue
                case None:
                    pass
            error = status_failure(asked, refusal)
            if refusal.status not in PASSING or not error.retryable:
                raise error from None
            await tries.again(error)
        except TimeoutError:
            raise unreachable(asked, TransportFailure(timed_out=True)) from None
        except TransportFailure as failure:
            error = unreachable(asked, failure)
            if asked.provider.local and not failure.broke_off:
                raise error from failure
            await tries.again(error)
        except ValueError:
            raise unreadable(asked) from None
    else:
        raise unreadable(asked)
    completion = read_completion(data, wanted.messages)
    if completion is None:
        if isinstance(data, dict) and data.get("error"):
            raise reported_in_stream(asked, data, shown=False)
        raise unreadable(asked)
    for option in refused:
        memory.refuse(option)
    memory.learn(
        tools=False if tools_refused else (True if completion.calls and wanted.tools else None),
        json_schema=_schema_taken(wanted, [*known, *refused]),
    )
    sent = {str(tool["function"]["name"]) for tool in wanted.tools}
    names = (str(tool["function"]["name"]) for tool in given)
    return replace(
        completion,
        with_tools=bool(wanted.tools),
        tools_refused=tools_refused,
        dropped=tuple(name for name in names if name not in sent) if wanted.tools else (),
    )


async def probe_tools(client: Client, asked: Asked, memory: Memory, *, patience: Patience) -> bool:
    """Whether the model calls a tool when it must: some ignore ``tools`` in silence. Remembered.

    Raises:
        PetError: as :func:`complete` does.
    """
    known = memory.profile.tools
    if known is not None:
        return known
    wanted = Wanted(_PROBE_MESSAGES, (_PROBE_TOOL,), tool_choice="required")
    completion = await complete(
        client, asked, memory, wanted, patience=patience, refused_tools=RefusedTools()
    )
    memory.learn(tools=bool(completion.calls))
    return bool(completion.calls)


def _drop(tools: Sequence[Mapping[str, Any]], name: str, refused: RefusedTools) -> list[Mapping[str, Any]]:
    for tool in tools:
        if tool["function"]["name"] == name:
            refused.add(tool)
    return refused.without(tools)


def _schema_taken(wanted: Wanted, without: Sequence[Option]) -> bool | None:
    """Whether an answered request shows that the provider takes a JSON schema as ``response_format``."""
    if wanted.response_format is None or wanted.response_format.get("type") != "json_schema":
        return None
    return "response_format" not in without


def _fingerprint(tool: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(tool, sort_keys=True, default=str).encode()).hexdigest()
