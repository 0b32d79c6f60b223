"""What is said of a frame that can't be read: our own words, in both languages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.frames import BadFrame, decode
from server.messages import render
from server.protocol import Hello


def refusal(raw: Any) -> BadFrame:
    with pytest.raises(BadFrame) as caught:
        decode(raw if isinstance(raw, str | bytes) else json.dumps(raw))
    return caught.value


def send(**fields: Any) -> dict[str, Any]:
    return {"type": "send", "text": "hi", **fields}


def hello(**fields: Any) -> dict[str, Any]:
    return {"type": "hello", "protocol": 1, **fields}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\x00", "it is binary, and frames are JSON text"),
        ("{", "it is no JSON"),
        ("17", "it is no JSON object"),
        ({}, "it has no `type`"),
        ({"type": "nonsense"}, 'its type "nonsense" is unknown'),
        ({"type": "send"}, "`text` is missing"),
        (send(text=5), "`text` is no text"),
        (send(images="x"), "`images` is no list"),
        (send(images=[5]), "`images.0` is no object"),
        (send(images=[{"mime": "image/png", "data": "", "z": 1}]), "`images.0.z` is unknown"),
        (
            send(images=[{"mime": "image/bmp", "data": ""}]),
            '`images.0.mime` is none of "image/png", "image/jpeg", "image/webp", "image/gif"',
        ),
        (send(id="x" * 65), "`id` has more than 64 characters"),
        (hello(last_seq=-1), "`last_seq` is less than 0"),
        (hello(new=1), "`new` is neither true nor false"),
        (hello(protocol=2), "`protocol` is none of 1"),
        ({"type": "chat.history", "limit": "5"}, "`limit` is no whole number"),
        ({"type": "chat.history", "limit": 5000}, "`limit` is more than 1000"),
        ({"type": "say", "text": ""}, "`text` is empty"),
        ({"type": "settings.update", "revision": "r", "changes": []}, "`changes` is no object"),
        ({"type": "context.update", "source": "s", "text": "t", "ttl_s": 0}, "`ttl_s` is not more than 0"),
        ({"type": "context.update", "source": "s", "text": "t", "ttl_s": "1"}, "`ttl_s` is no number"),
    ],
)
def test_a_frame_that_cannot_be_read_is_refused_in_our_own_words(raw: Any, words: str) -> None:
    bad = refusal(raw)
    assert render(f"frames.{bad.kind}", "en", **bad.params) == words
    assert "{" not in render(f"frames.{bad.kind}", "zh-CN", **bad.params)


@pytest.mark.parametrize("version", [True, 1.0, "1", None])
def test_only_the_number_one_is_version_one(version: Any) -> None:
    assert refusal(hello(protocol=version)).params["field"] == "protocol"
    assert isinstance(decode(json.dumps(hello())), Hello)
