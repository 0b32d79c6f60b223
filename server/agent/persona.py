"""Who the character is, as text for the chat model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from server.agent.prompt import Exchange
from server.protocol import Locale


@dataclass(frozen=True, slots=True)
class Persona:
    """One persona in one language.

    Attributes:
        system: persona and marker format, the first system message.
        reminder: the identity reminder behind the recent messages; "" = none.
        sample: an exchange that stands before the chat, for a model that learns more from a sample
            than from a description.
        waiting: what the character says while tools take their time.
    """

    system: str
    reminder: str
    sample: tuple[Exchange, ...] = ()
    waiting: tuple[str, ...] = ()


def load_persona(locale: Locale, text: str | None = None) -> Persona:
    """The persona for ``locale``.

    Args:
        text: the user's own persona; None means the one that ships, Tama.
    """
    language = "zh" if locale == "zh-CN" else "en"
    who = text if text is not None else prompt_file(f"tama.{language}.md")
    return Persona(
        system=f"{who.strip()}\n\n{prompt_file(f'markers.{language}.md')}",
        reminder=prompt_file(f"reminder.{language}.md"),
        waiting=tuple(prompt_file(f"waiting.{language}.md").splitlines()),
    )


def demo_persona() -> Persona:
    """Tama for the tiny demonstration model, which speaks English alone."""
    return Persona(
        system=prompt_file("tama-demo.en.md"),
        reminder="",
        sample=(
            Exchange("user", "Who are you?"),
            Exchange("assistant", "I'm Tama, your little coding cat! Shall we look at your code together?"),
        ),
    )


@cache
def prompt_file(name: str) -> str:
    """The text of ``server/prompts/NAME``, without the white space around it; read once."""
    return files("server").joinpath("prompts", name).read_text(encoding="utf-8").strip()
