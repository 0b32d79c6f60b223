from __future__ import annotations

import pytest

from server.visible import is_blank


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\u200b",
        "\u200d\u200c",
        "\ufeff",
        "\u00ad",
        "\u2060\u2800",
        "\u3164",
        "\ufe0f",
        "\x00",
        "\ud800",
    ],
)
def test_what_nobody_can_see_is_blank(text: str) -> None:
    assert is_blank(text)
    assert is_blank(text + " " + text)
    assert not is_blank(text + "a")


@pytest.mark.parametrize("text", ["0", ".", "你", "❤\ufe0f", "👩\u200d💻", "e\u0301", "\u0301", "؟"])
def test_what_can_be_seen_is_not_blank(text: str) -> None:
    assert not is_blank(text)
