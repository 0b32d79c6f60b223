"""Asks a provider what it has: its model list, and what a local server tells beside ``/v1``.

Which server it is follows from which endpoints answer, never from a name or an address: Ollama has
``/api/ps`` and ``/api/show``, LM Studio ``/api/v0/models``, llama.cpp ``/props``; a hosted one may put
context and abilities into its model list.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from server.models.address import may_be_local_server, native_root
from server.models.client import Answer, Client
from server.models.failure import Asked, TransportFailure, status_failure, unreachable
from server.models.listing import (
    ListedModel,
    Survey,
    read_lmstudio,
    read_model_list,
    read_ollama_running,
    read_ollama_show,
    read_props,
)

LOCAL_TIMEOUT_S = 1.5
REMOTE_TIMEOUT_S = 8.0
_MAX_DESCRIBED = 5


async def survey(client: Client) -> Survey:
    """What the provider has, within 1.5 s on this machine and 8 s elsewhere.

    Raises:
        PetError: ``provider_unreachable``, ``provider_auth``, or what else it answered. A provider without a
            model list is no error.
    """
    base, timeout_s = client.provider.base_url, timeout_of(client)
    began = time.perf_counter()
    listing = asyncio.create_task(client.request("GET", f"{base}/models", timeout_s=timeout_s))
    native: list[asyncio.Task[Any]] = []
    if may_be_local_server(base):
        root = native_root(base)
        paths = ("/api/ps", "/api/v0/models", "/props")
        native = [asyncio.create_task(_json(client, root + path, timeout_s)) for path in paths]
    try:
        try:
            answer = await listing
        except TransportFailure as failure:
            raise unreachable(Asked(client.provider), failure) from failure
        latency_ms = round((time.perf_counter() - began) * 1000)
        models = _models_of(client, answer)
        ollama, lmstudio, props = await asyncio.gather(*native) if native else (None, None, None)
    finally:
        for task in (listing, *native):
            task.cancel()
        await asyncio.gather(listing, *native, return_exceptions=True)
    return _put_together(models, latency_ms, ollama, lmstudio, props)


async def look(client: Client, wanted: str) -> Survey:
    """A survey in which the ``wanted`` model is described, or the first chat model where none is wanted."""
    found = await survey(client)
    if found.flavour != "ollama" or not found.models:
        return found
    candidates = [wanted] if wanted else [model.id for model in found.chat_models()[:_MAX_DESCRIBED]]
    for name in candidates:
        if found.model(name) is not None:
            described = await describe(client, found, name)
            models = tuple(described if model.id == described.id else model for model in found.models)
            found = replace(found, models=models)
            if described.can_chat:
                break
    return found


async def describe(client: Client, found: Survey, model: str) -> ListedModel:
    """What can be learned about one model beyond the list; costs a request only where one helps."""
    listed = found.model(model) or ListedModel(model)
    if found.flavour != "ollama":
        return listed
    root = native_root(client.provider.base_url)
    body = {"model": model}
    try:
        shown = await client.request("POST", root + "/api/show", timeout_s=timeout_of(client), body=body)
    except TransportFailure:
        return listed
    return read_ollama_show(listed, shown.data) if shown.status == 200 else listed


def timeout_of(client: Client) -> float:
    return LOCAL_TIMEOUT_S if client.provider.local else REMOTE_TIMEOUT_S


def _models_of(client: Client, answer: Answer) -> tuple[ListedModel, ...] | None:
    if answer.status in (404, 405, 501):
        return None
    if answer.status >= 400:
        raise status_failure(Asked(client.provider), answer.refusal())
    return read_model_list(answer.data)


def _put_together(
    models: tuple[ListedModel, ...] | None, latency_ms: int, ollama: Any, lmstudio: Any, props: Any
) -> Survey:
    if (told := read_lmstudio(lmstudio)) is not None:
        return Survey(told, latency_ms, "lmstudio")
    if (context := read_props(props)) is not None:
        return Survey(tuple(context.of(model) for model in models or ()), latency_ms, "llamacpp")
    if (running := read_ollama_running(ollama)) is not None:
        return Survey(tuple(running.of(model) for model in models or ()), latency_ms, "ollama")
    return Survey(models, latency_ms, None)


async def _json(client: Client, url: str, timeout_s: float) -> Any:
    try:
        answer = await client.request("GET", url, timeout_s=timeout_s)
    except TransportFailure:
        return None
    return answer.data if answer.status == 200 else None
