"""What does not hold of a program, and what has no answer."""

from __future__ import annotations

import traceback
from typing import Any

import yota
from tests.fuzz.compare import unequal


class Refused(Exception):  # noqa: N818  # an answer, as far as it goes
    """A rule has no answer for a program, and says why."""


class Failure(AssertionError):  # noqa: N818  # what an assertion is named after
    """What does not hold of a program; `kind` says which of the promises."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class telling:  # noqa: N801  # a context manager
    """Turn an error of the engine's into a Failure of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, Failure):
            return
        text = str(error)
        if is_refusal(error, text):
            raise Refused(text) from error
        last = traceback.extract_tb(trace)[-1]
        text = f"{type(error).__name__}: {text} ({last.filename}:{last.lineno})"
        raise Failure(f"{self.kind} raises {type(error).__name__}", text) from error


def is_refusal(error: Exception, text: str) -> bool:
    """Tell whether an error says that there is no answer, and not that one went wrong."""
    if isinstance(error, yota.RuleError):
        return "the rule of" not in text
    return isinstance(error, yota.TraceError) or "unsupported in linalg" in text


def must_equal(kind: str, got: Any, want: Any) -> None:
    text = unequal(got, want)
    if text is not None:
        raise Failure(kind, text)
