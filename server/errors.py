"""The one exception that carries a message for the user.

Whoever raises it names a text of the catalogue (:mod:`server.messages`) and its parameters; the
words are chosen where the reader's language is known.
"""

from __future__ import annotations

from server.messages import render
from server.protocol import ErrorCode, Locale


class PetError(Exception):
    """Something failed and the user can be told what and what to do.

    Args:
        code: the protocol's error code.
        text: key of the message in the catalogue.
        hint: key of the advice in the catalogue, shown apart from the message.
        retryable: whether the same request may succeed when simply sent again.
        retry_after_s: seconds after which it may.
        params: what the texts name (``{provider}``, ``{model}``…); never a key, a path or a stack.
    """

    def __init__(
        self,
        code: ErrorCode,
        text: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        **params: str | int | float,
    ) -> None:
        super().__init__(render(text, "en", **params))
        self.code: ErrorCode = code
        self.text = text
        self.hint_text = hint
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.params = params

    def message(self, locale: Locale) -> str:
        return render(self.text, locale, **self.params)

    def hint(self, locale: Locale) -> str | None:
        return render(self.hint_text, locale, **self.params) if self.hint_text else None
