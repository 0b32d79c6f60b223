"""What every table of the schema is made from."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

Texts: Final[Any] = Field(strict=False, max_length=1000)
"""For a list of values: TOML and JSON give lists where the schema holds tuples."""


class Table(BaseModel):
    """A table of lab.toml: closed, unchangeable, and every key has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)
