"""Who the character is, as text for the chat model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from server.protocol import Locale


@dataclass(frozen=True, slots=True)
class Persona:
    """One persona in one language.

    Attributes:
        system: persona and marker format, the first system message.
        short: the whole system message for a model too small for the persona.
        reminder: the identity reminder behind the recent messages.
    """

    system: str
    short: str
    reminder: str


def load_persona(locale: Locale, text: str | None = None) -> Persona:
    """The persona for ``locale``.

    Args:
        text: the user's own persona; None means the one that ships, Tama.
    """
    language = "zh" if locale == "zh-CN" else "en"
    who = text if text is not None else prompt_file(f"tama.{language}.md")
    return Persona(
        system=f"{who.strip()}\n\n{prompt_file(f'markers.{language}.md')}",
        short=prompt_file("tama-demo.en.md"),
        reminder=prompt_file(f"reminder.{language}.md"),
    )


def prompt_file(name: str) -> str:
    """The text of ``server/prompts/NAME``, without the white space around it."""
    return files("server").joinpath("prompts", name).read_text(encoding="utf-8").strip()
