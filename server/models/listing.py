"""Reads what servers tell about their models, in the shapes that are around. No I/O; nothing is trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from server.models.provider import Flavour

_NO_CHAT = re.compile(
    r"embed|rerank|whisper|transcri|(?:^|[-/:_])(?:tts|bge|e5|gte|clip|asr|ocr)(?:$|[-/:_0-9])|minilm|dall-e|image"
    r"|moderation|realtime|(?:^|[-/:_])audio|diffusion|sdxl|(?:^|[-/:_])flux|(?:^|/)(?:sora|veo|imagen|babbage|davinci)"
    r"|guard|speech",
    re.IGNORECASE,
)
_CONTEXT_FIELDS = (
    "loaded_context_length",
    "context_length",
    "max_context_length",
    "max_model_len",
    "context_window",
)
_NO_CHAT_TYPES = frozenset({"embeddings", "embedding", "image", "audio", "rerank", "moderation", "language"})
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as its server describes it; None = it doesn't say.

    Attributes:
        chat: it answers chat requests.
        context_tokens: the context that it runs with.
        loaded: it is in memory already.
    """

    id: str
    chat: bool | None = None
    context_tokens: int | None = None
    vision: bool | None = None
    tools: bool | None = None
    loaded: bool = False

    @property
    def can_chat(self) -> bool:
        return self.chat if self.chat is not None else not _NO_CHAT.search(self.id)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a reachable provider has.

    Attributes:
        models: its list, None where it has no list.
        flavour: which local server it is, where it is one that tells more.
    """

    models: tuple[ListedModel, ...] | None
    latency_ms: int = 0
    flavour: Flavour | None = None

    def model(self, name: str) -> ListedModel | None:
        """The model of that name; Ollama's ``:latest`` may be left out."""
        names = (name, f"{name}:latest") if self.flavour == "ollama" else (name,)
        return next((model for model in self.models or () if model.id in names), None)

    def lists(self, name: str) -> bool | None:
        """Whether the list has ``name``, or what it is short for; None where no list tells what may be asked:
        llama.cpp answers to any name."""
        if not self.models or self.flavour == "llamacpp":
            return None
        if self.model(name) is not None:
            return True
        bare = name if self.flavour else name.partition(":")[0]  # OpenRouter's variants: gpt-4o:online
        short = re.compile(rf"(?:models/)?{re.escape(bare.removesuffix('-latest'))}(?:-[0-9-]+|-latest)?")
        return any(short.fullmatch(model.id) for model in self.models)

    def chat_models(self) -> list[ListedModel]:
        """Those that answer chat requests, loaded ones first, otherwise in the server's order."""
        return sorted(
            (model for model in self.models or () if model.can_chat), key=lambda model: not model.loaded
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says about its models beside their list: context by model, or of all."""

    contexts: Mapping[str, int | None] = field(default_factory=dict)
    context_tokens: int | None = None
    vision: bool | None = None
    tools: bool | None = None

    def of(self, model: ListedModel) -> ListedModel:
        return replace(
            model,
            context_tokens=self.context_tokens or self.contexts.get(model.id) or model.context_tokens,
            vision=model.vision if self.vision is None else self.vision,
            tools=model.tools if self.tools is None else self.tools,
            loaded=model.loaded or model.id in self.contexts,
        )


def read_model_list(data: Any) -> tuple[ListedModel, ...] | None:
    """``GET /models`` of any provider; None where that is no model list."""
    if isinstance(data, dict):
        data = data.get("data", data.get("models"))
    if not isinstance(data, list):
        return None
    return tuple(model for entry in data if (model := _entry(entry)) is not None)


def read_lmstudio(data: Any) -> tuple[ListedModel, ...] | None:
    """LM Studio's ``/api/v0/models``; None where it is something else."""
    entries = data.get("data") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return None
    if not all(isinstance(entry.get("type"), str) and "state" in entry for entry in entries):
        return None
    models = []
    for entry in entries:
        model = _entry(entry)
        if model is not None:
            kind, abilities = entry["type"], entry.get("capabilities")
            models.append(
                replace(
                    model,
                    chat=kind in ("llm", "vlm"),
                    vision=kind == "vlm",
                    tools="tool_use" in abilities if isinstance(abilities, list) else None,
                    loaded=entry["state"] == "loaded",
                    context_tokens=_positive(entry.get("loaded_context_length"))
                    or _positive(entry.get("max_context_length")),
                )
            )
    return tuple(models)


def read_ollama_running(data: Any) -> Told | None:
    """Ollama's ``/api/ps``: the models in memory with the context they really got; None = no Ollama."""
    entries = data.get("models") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return None
    running = [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
    return Told({entry["name"]: _positive(entry.get("context_length")) for entry in running})


def read_ollama_show(model: ListedModel, data: Any) -> ListedModel:
    """Ollama's ``/api/show``. The length that a model was trained for isn't what it gets, so only ``num_ctx``
    of its parameters counts, unless it runs already."""
    if not isinstance(data, dict):
        return model
    abilities = data.get("capabilities")
    parameters = data.get("parameters")
    context = model.context_tokens
    if context is None and isinstance(parameters, str) and (found := _NUM_CTX.search(parameters)):
        context = int(found[1])
    if not isinstance(abilities, list):
        return replace(model, context_tokens=context)
    return replace(
        model,
        context_tokens=context,
        chat="completion" in abilities,
        vision="vision" in abilities,
        tools="tools" in abilities,
    )


def read_props(data: Any) -> Told | None:
    """llama.cpp's ``/props``; None where it is something else."""
    settings = data.get("default_generation_settings") if isinstance(data, dict) else None
    if not isinstance(settings, dict):
        return None
    modalities = data.get("modalities")
    vision = modalities.get("vision") if isinstance(modalities, dict) else None
    template = data.get("chat_template_caps")
    tools = template.get("supports_tools") if isinstance(template, dict) else None
    return Told(
        context_tokens=_positive(settings.get("n_ctx")) or _positive(data.get("n_ctx")),
        vision=vision if isinstance(vision, bool) else None,
        tools=tools if isinstance(tools, bool) else None,
    )


def _entry(entry: Any) -> ListedModel | None:
    if isinstance(entry, str):
        entry = {"id": entry}
    if not isinstance(entry, dict):
        return None
    name = entry.get("id") or entry.get("name")
    if not isinstance(name, str) or not name:
        return None
    inputs, outputs = _modalities(entry)
    abilities = entry.get("capabilities")
    flags: dict[str, Any] = abilities if isinstance(abilities, dict) else {}
    parameters = entry.get("supported_parameters")
    chat: bool | None = None
    if (outputs and "text" not in outputs) or entry.get("type") in _NO_CHAT_TYPES:
        chat = False
    tools = flags.get("function_calling", flags.get("tools"))
    if isinstance(parameters, list):
        tools = "tools" in parameters
    vision = "image" in inputs if inputs else flags.get("vision")
    return ListedModel(
        name,
        chat=chat,
        context_tokens=next((found for key in _CONTEXT_FIELDS if (found := _positive(entry.get(key)))), None),
        vision=vision if isinstance(vision, bool) else None,
        tools=tools if isinstance(tools, bool) else None,
    )


def _modalities(entry: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    architecture = entry.get("architecture")
    source = architecture if isinstance(architecture, dict) else entry
    inputs, outputs = source.get("input_modalities"), source.get("output_modalities")
    return (inputs if isinstance(inputs, list) else [], outputs if isinstance(outputs, list) else [])


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
