"""What a whole answer of a model holds, and the body that asks for one. No I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.models.failure import HttpRefusal, says_overflow
from server.models.messages import fold_system, refused_option
from server.models.profile import Option
from server.models.tokens import count_prompt, count_tokens, told_usage
from server.models.tool_schema import plain_tool, tidy_tool
from server.protocol import Usage

_NEGATED = r"(?:not|n't|un)[ -]?(?:\w+ )?(?:support|enabl|allow|accept|permit|recogni[sz]ed|known)"
_NO_TOOLS = re.compile(
    rf"(?:tool|function)s?.{{0,40}}{_NEGATED}|{_NEGATED}.{{0,60}}(?:tool|function)"
    r"|unexpected (?:keyword )?(?:argument|parameter|field).{0,20}tools|no endpoints.{0,40}tool"
    r"|extra.{0,80}tools|tools.{0,80}extra"
    r"|(?:tool|function).{0,60}requires? (?:the )?--|auto.{0,20}tool choice",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT_MESSAGES = re.compile(
    r"messages?[\[.]\d|tool_call_id|tool_calls\W{0,3}\d|role\W{1,3}tool", re.IGNORECASE
)
_SCHEMA = re.compile(
    r"schema|additional_?properties|\$ref|\$defs|any_?of|parameters|input_schema|properties", re.IGNORECASE
)
_FORMAT = re.compile("response.?format|json.?schema|json_object", re.IGNORECASE)
_TOOL_INDEX = re.compile(r"(?:tools|function_?declarations|functions)(?:\[|\.|\W+)(\d{1,3})\b", re.IGNORECASE)
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole answer.

    Attributes:
        message: the assistant's message as the provider sent it, unknown fields included.
        text: its content.
        calls: its tool calls as the provider sent them.
        usage: tokens; our own estimate where the provider didn't count.
        with_tools: the tools were part of the request that was answered; False where the model takes none.
        tools_refused: this very request was the one that found out.
        dropped: names of tools whose schema the provider refused; the answer was made without them.
    """

    message: dict[str, Any]
    text: str
    calls: list[dict[str, Any]]
    finish_reason: str
    usage: Usage
    estimated_prompt: int
    with_tools: bool = False
    tools_refused: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for.

    Attributes:
        tools: in the provider's form (:func:`server.models.tool_schema.tool_definition`).
        instead: what is asked where the model takes no tools; None = the same without them.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str | None = None
    response_format: Mapping[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    instead: Wanted | None = None

    def without_tools(self) -> Wanted:
        return self.instead or replace(self, tools=())

    def body(self, model: str, without: Collection[Option]) -> dict[str, Any]:
        messages = list(self.messages)
        if "system" in without or "late_system" in without:
            messages = list(fold_system(messages, keep_first="system" not in without))
        body: dict[str, Any] = {"model": model, "messages": messages}
        if "temperature" not in without:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        if self.tools:
            tidy = plain_tool if "schema_keywords" in without else tidy_tool
            body["tools"] = [tidy(tool) for tool in self.tools]
            if self.tool_choice is not None and "tool_choice" not in without:
                body["tool_choice"] = self.tool_choice
        if self.response_format is not None and "response_format" not in without:
            body["response_format"] = self.response_format
        return body


@dataclass(frozen=True, slots=True)
class WithoutTools:
    """The model takes no tools."""


@dataclass(frozen=True, slots=True)
class WithoutTool:
    """The provider takes every tool but this one."""

    name: str


@dataclass(frozen=True, slots=True)
class WithoutOption:
    option: Option


def remedy(
    refusal: HttpRefusal, body: Mapping[str, Any], without: Collection[Option]
) -> WithoutTools | WithoutTool | WithoutOption | None:
    """What to leave out of ``body`` before it is sent again; None where that wouldn't help."""
    told = refusal.body[:20_000]
    if refusal.status not in (400, 404, 415, 422, 500, 501) or says_overflow(told):
        return None
    if "tool_choice" in body and re.search("tool.?choice", told, re.IGNORECASE):
        return WithoutOption("tool_choice")
    if "response_format" in body and _FORMAT.search(told):
        return WithoutOption("response_format")
    if body.get("tools"):
        named = _named_tool(told, body["tools"])
        if named is not None or (_SCHEMA.search(told) and re.search("tool|function", told, re.IGNORECASE)):
            if "schema_keywords" not in without:
                return WithoutOption("schema_keywords")
            if named is not None:
                return WithoutTool(named)
        if _NO_TOOLS.search(told) and not _ABOUT_MESSAGES.search(told):
            return WithoutTools()
    option = refused_option(refusal, body, without)
    return WithoutOption(option) if option is not None else None


def read_completion(data: object, messages: Sequence[Mapping[str, Any]]) -> Completion | None:
    """The answer in a response's JSON; None where it is none."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(choices, list) or not choices:
        return None
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return None
    text = text_of(message.get("content"))
    calls = _calls_of(message)
    reason = choice.get("finish_reason")
    estimated = count_prompt(messages)
    return Completion(
        message=message,
        text=text,
        calls=calls,
        finish_reason=reason if isinstance(reason, str) and reason else "stop",
        usage=_usage_of(data) or Usage(prompt=estimated, completion=_size_of(message, text, calls)),
        estimated_prompt=estimated,
    )


def text_of(content: object) -> str:
    """The text of a message's ``content``, whichever of its forms it has."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        return [call for call in calls if isinstance(call, dict)]
    legacy = message.get("function_call")
    return [{"id": "", "type": "function", "function": legacy}] if isinstance(legacy, dict) else []


def _usage_of(data: Mapping[str, Any]) -> Usage | None:
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return None
    return told_usage(usage.get("prompt_tokens"), usage.get("completion_tokens"))


def _size_of(message: Mapping[str, Any], text: str, calls: list[dict[str, Any]]) -> int:
    thought = next((value for name in _REASONING_FIELDS if isinstance(value := message.get(name), str)), "")
    return count_tokens(text) + count_tokens(thought) + sum(count_tokens(str(call)) for call in calls)


def _named_tool(told: str, tools: Sequence[Mapping[str, Any]]) -> str | None:
    """The one tool that a refusal is about, by its name or else by its index."""
    names = [str(tool["function"]["name"]) for tool in tools]
    named = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", told)]
    if len(named) == 1:
        return named[0]
    index = _TOOL_INDEX.search(told)
    if not named and index is not None and int(index[1]) < len(names):
        return names[int(index[1])]
    return None
