"""How a tool of our own is written: a pydantic model of its arguments, and a function.

docs/writing-a-tool.md shows it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tools.contract import DEFAULT_HINT, CallContext, ToolFailure, ToolInfo, ToolResult
from tools.schema import without_titles
from tools.threads import run_blocking


class Arguments(BaseModel):
    """What a tool is called with; a base for its arguments. Fields are described for the model."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


A = TypeVar("A", bound=Arguments)
Outcome: TypeAlias = ToolResult | str
Function: TypeAlias = Callable[[A, CallContext], Outcome] | Callable[[A, CallContext], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[A]):
    """A tool made of a function; see :func:`tool`."""

    info: ToolInfo
    arguments: type[A]
    function: Function[A]

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        try:
            checked = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ToolFailure(explain(error)) from None
        outcome = await self._outcome(checked, context)
        return ToolResult.text(outcome) if isinstance(outcome, str) else outcome

    async def _outcome(self, checked: A, context: CallContext) -> Outcome:
        if inspect.iscoroutinefunction(self.function):
            given: Outcome = await self.function(checked, context)
            return given
        return await run_blocking(lambda: self._run(checked, context), self.info.name)

    def _run(self, checked: A, context: CallContext) -> Outcome:
        outcome = self.function(checked, context)
        assert isinstance(outcome, ToolResult | str)
        return outcome


def tool(
    name: str,
    description: str,
    arguments: type[A],
    *,
    hint: str = DEFAULT_HINT,
    timeout_s: float | None = None,
    max_result_chars: int | None = None,
) -> Callable[[Function[A]], FunctionTool[A]]:
    """Makes a tool of the function below it, which gets the checked arguments and the call's context.

    It gives text or a :class:`ToolResult`, and raises :class:`ToolFailure`. A plain ``def`` may block: it
    runs in a thread. Another exception is a fault of the tool's.
    """
    info = ToolInfo(
        name,
        description,
        schema_of(arguments),
        hint=hint,
        timeout_s=timeout_s,
        max_result_chars=max_result_chars,
    )
    return lambda function: FunctionTool(info, arguments, function)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of the arguments, without what pydantic adds for documents."""
    schema = without_titles(arguments.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def explain(error: ValidationError) -> str:
    """What is wrong with arguments, for a model: each fault once, without what was sent."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:10]:
        where = ".".join(str(part) for part in fault["loc"]) or "the arguments"
        faults.append(f"{where}: {fault['msg']}")
    return "Wrong arguments: " + "; ".join(faults)
