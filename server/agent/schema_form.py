"""The tool loop's other form, for models that don't call tools natively: the model fills in a JSON form, the
union of all calls and "none", one call a step. Pure.

It is made for the smallest models: names stand without their servers where that is clear, and the few
examples are those nearest to the user's words. A model of 135 million parameters follows them most times;
with the same examples for every message it hardly ever picked right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.agent.call_text import WrittenCall, calls_in_text
from server.agent.calls import known_name, without_thinking
from server.agent.loose_json import Malformed, read_json
from server.agent.persona import prompt_file
from server.agent.plain_text import cut
from server.models.tool_schema import clean_schema
from tools.contract import SEPARATOR, ToolInfo

NONE: Final = "none"
MAX_TOKENS: Final = 256
_MAX_EXAMPLES: Final = 4
_MAX_DESCRIPTION: Final = 120
_WORD: Final = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]", re.IGNORECASE)

# A message, the tool that it needs, its arguments. Each appears only where its tool is there.
_EXAMPLES: Final[tuple[tuple[str, str, Mapping[str, Any]], ...]] = (
    ("hello", NONE, {}),
    ("thank you, that was nice", NONE, {}),
    ("how are you today?", NONE, {}),
    ("你好呀", NONE, {}),
    ("what time is it?", "timeemi__get_date_and_time", {}),
    ("which day is today?", "timeemi__get_date_and_time", {}),
    ("现在几点？", "timeemi__get_date_and_time", {}),
    ("roll two dice", "timeemi__roll_dice", {"count": 2}),
    ("掷一个骰子", "timeemi__roll_dice", {"count": 1}),
    ("take a screenshot", "vision__screen_shot", {}),
    ("what is on my screen?", "vision__screen_shot", {}),
    ("看看我的屏幕", "vision__screen_shot", {}),
    ("search the web for cat food", "tool__web_search", {"query": "cat food"}),
    ("搜索猫粮", "tool__web_search", {"query": "猫粮"}),
    ("read the page https://example.org/a", "tool__web_fetch", {"url": "https://example.org/a"}),
    ("show me the file docs/a.md", "tool__read_file", {"path": "docs/a.md"}),
    ("打开 README.md 看看", "tool__read_file", {"path": "README.md"}),
    ("is anything uncommitted?", "git__status", {}),
    ("what did I do today?", "git__today", {}),
    ("run the tests", "tests__run", {}),
    ("跑一下测试", "tests__run", {}),
)


@dataclass(frozen=True, slots=True)
class Form:
    """The form for one set of tools."""

    tools: Sequence[ToolInfo]

    @property
    def response_format(self) -> dict[str, Any]:
        choices: list[dict[str, Any]] = [
            {
                "type": "object",
                "properties": {
                    "tool": {"type": "string", "const": self.short(tool.name)},
                    "arguments": _closed(clean_schema(tool.input_schema, plain=True)),
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
            for tool in self.tools
        ]
        none = {
            "type": "object",
            "properties": {"tool": {"type": "string", "const": NONE}},
            "required": ["tool"],
            "additionalProperties": False,
        }
        schema = {"anyOf": [*choices, none]}
        return {"type": "json_schema", "json_schema": {"name": "next_call", "schema": schema}}

    def prompt(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """``messages`` (the router's prompt first) with the form explained and a few examples behind what the
        system says; the examples nearest to the user's words come last."""
        first = next((at for at, message in enumerate(messages) if message.get("role") != "system"), 0)
        listed = "\n".join(
            f"- {self.short(tool.name)}: {cut(_first_line(tool.description), _MAX_DESCRIPTION)}"
            for tool in self.tools
        )
        explained = f"{prompt_file('tool_form.md')}\n\nTools:\n{listed}\n- {NONE}: no tool is needed."
        words = str(messages[-1].get("content") or "") if messages else ""
        shots: list[Mapping[str, Any]] = []
        for said, tool, arguments in self._nearest(words):
            shots.append({"role": "user", "content": said})
            shots.append({"role": "assistant", "content": self.choice(tool, arguments)})
        return [*messages[1:first], {"role": "system", "content": explained}, *shots, *messages[first:]]

    def read(self, text: str) -> list[WrittenCall]:
        """The calls that the filled-in form asks for; none where it says so, or can't be read."""
        text = without_thinking(text)
        try:
            value = read_json(text)
        except Malformed:
            return []
        known = [tool.name for tool in self.tools]
        if isinstance(value, dict) and isinstance(name := value.get("tool"), str):
            if not name.strip() or name.strip().lower() == NONE:
                return []
            arguments = value.get("arguments")
            return [WrittenCall(known_name(name, known), arguments if isinstance(arguments, dict) else {})]
        return calls_in_text(text, known)

    def choice(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The filled-in form, as the model writes it."""
        choice = {"tool": NONE} if tool == NONE else {"tool": self.short(tool), "arguments": dict(arguments)}
        return json.dumps(choice, ensure_ascii=False)

    def short(self, name: str) -> str:
        """A tool's name without its server, where no other tool is called so."""
        tool = name.partition(SEPARATOR)[2]
        same = [other for other in self.tools if other.name.partition(SEPARATOR)[2] == tool]
        return tool if len(same) == 1 and tool != NONE else name

    def _nearest(self, words: str) -> list[tuple[str, str, Mapping[str, Any]]]:
        """A few examples whose tool is there, the most similar to ``words`` last."""
        names = {tool.name for tool in self.tools} | {NONE}
        asked = _terms(words)
        ranked = sorted(
            (example for example in _EXAMPLES if example[1] in names),
            key=lambda example: len(asked & _terms(example[0])) / (1 + len(_terms(example[0]))),
        )
        return ranked[-_MAX_EXAMPLES:]


def result_text(results: Sequence[tuple[str, str]]) -> str:
    """What the model is told after a step: each tool's name and result."""
    told = [f"Result of {name}:\n{text}" for name, text in results]
    return "\n\n".join([*told, f'Choose the next tool, or {{"tool": "{NONE}"}} when this is enough.'])


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with nothing but its own properties, which grammars need to come to an end."""
    return {**schema, "additionalProperties": False}


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _terms(text: str) -> set[str]:
    return set(_words(text.lower()))


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield match[0]
