"""A chat model and a tool model, each scripted, and turns that need both."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.openai_server import Reply, ScriptedProvider
from tests.support.companion import Talker, lab_toml

ENDS = ("turn.done", "turn.error", "turn.cancelled")
WORKSPACE = '[workspace]\npath = "."\n'
ALWAYS = WORKSPACE + '[agent]\nspeculate = "always"\n'
READ = "read the file notes.txt and tell me what it says"
UNSURE = "how is it going with the deploy we talked about"
"""A message of which the rules can't tell whether it needs a tool."""


def call(name: str, **arguments: Any) -> Reply:
    """A tool model's answer that calls one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Reply(finish="tool_calls", tool_calls=[{"id": "c1", "type": "function", "function": function}])


def nothing() -> Reply:
    """A tool model's answer that calls nothing."""
    return Reply("done")


class Roles:
    """Two scripted models behind two providers, so that each has a script of its own."""

    def __init__(self, tool: ScriptedProvider, chat: ScriptedProvider) -> None:
        self.tool = tool
        self.chat = chat

    def config(self, extra: str = "") -> str:
        return lab_toml(
            self.chat.base_url,
            extra=f"""
[llm.providers.router]
base_url = "{self.tool.base_url}"
[agent.models.tool]
provider = "router"
model = "scripted-chat"
{extra}""",
        )

    def composed(self) -> str:
        content = self.chat.requests[-1].body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]


async def turn(page: Talker, text: str, **fields: Any) -> dict[str, Any]:
    await page.send("send", text=text, **fields)
    return await page.until(*ENDS)
