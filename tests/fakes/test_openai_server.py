"""The fake keeps its promises, since so many tests rest on them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.fakes.openai_server import DropAfter, Pause, Reply, ScriptedProvider, Status, Think

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(trust_env=False, verify=False, timeout=20)


async def test_replies_come_in_order_and_then_the_default() -> None:
    async with ScriptedProvider() as provider, client() as http:
        provider.script(Reply("one"), Status(418, "teapot"))
        answers = [await http.post(provider.base_url + "/chat/completions", json=BODY) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 418, 200]
        assert answers[0].json()["choices"][0]["message"]["content"] == "one"
        assert [request.body for request in provider.requests] == [BODY] * 3
        assert provider.connections == 1


async def test_a_stream_is_made_of_its_parts() -> None:
    async with ScriptedProvider() as provider, client() as http:
        provider.script(Reply(Think("hm"), "hi", {"odd": 1}))
        body = {**BODY, "stream": True, "stream_options": {"include_usage": True}}
        answer = await http.post(provider.base_url + "/chat/completions", json=body)
        *lines, done = [line[6:] for line in answer.text.split("\n\n") if line]
        assert done == "[DONE]"
        chunks = [json.loads(line) for line in lines]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
        assert deltas == [
            {"role": "assistant", "content": ""},
            {"reasoning_content": "hm"},
            {"content": "hi"},
            {},
        ]
        assert {"odd": 1} in chunks
        assert chunks[-1]["usage"]["completion_tokens"] == 2


async def test_a_pause_waits_for_its_release_and_sees_the_client_go() -> None:
    async with ScriptedProvider() as provider, client() as http, asyncio.timeout(20):
        provider.script(Reply("one", Pause(), "two"), Reply("one", Pause(), "two"))
        body = {**BODY, "stream": True}
        whole = asyncio.ensure_future(http.post(provider.base_url + "/chat/completions", json=body))
        await provider.request_received()
        await provider.paused()
        assert not whole.done()
        provider.release()
        assert "two" in (await whole).text
        async with http.stream("POST", provider.base_url + "/chat/completions", json=body) as answer:
            await anext(answer.aiter_bytes())
            await provider.paused()
        await provider.client_gone()


@pytest.mark.parametrize("reset", [False, True])
async def test_a_dropped_stream_has_no_end(reset: bool) -> None:
    async with ScriptedProvider() as provider, client() as http:
        provider.script(DropAfter(1, reset=reset))
        with pytest.raises(httpx2.TransportError):
            await http.post(provider.base_url + "/chat/completions", json={**BODY, "stream": True})


async def test_what_is_refused_is_refused_before_the_script() -> None:
    async with ScriptedProvider(api_key="right") as provider, client() as http:
        provider.refuses = {"temperature"}
        provider.unknown_models_are_404 = True
        right = {"Authorization": "Bearer right"}
        tries = [
            ({}, BODY),
            (right, {**BODY, "temperature": 1}),
            (right, BODY),
            (right, {**BODY, "model": "scripted-chat"}),
        ]
        url = provider.base_url + "/chat/completions"
        statuses = [(await http.post(url, json=body, headers=sent)).status_code for sent, body in tries]
        assert statuses == [401, 400, 404, 200]


async def test_it_stops_and_starts_again_at_the_same_address() -> None:
    async with ScriptedProvider() as provider, client() as http:
        url = provider.base_url + "/models"
        assert (await http.get(url)).json()["data"][0]["id"] == "scripted-chat"
        await provider.stop()
        with pytest.raises(httpx2.ConnectError):
            await http.get(url)
        await provider.start()
        assert (await http.get(url)).status_code == 200


def test_it_runs_by_hand_and_prints_its_address() -> None:
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.openai_server"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
    process.kill()
    process.wait()
