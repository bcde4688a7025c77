"""What does not hold of a program, and what has no answer."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Any

import yota
from tests.fuzz.compare import unequal


class Refused(Exception):
    """A rule has no answer for a program, and says why."""


class Failure(AssertionError):
    """What does not hold of a program; `kind` says which of the promises."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


@contextlib.contextmanager
def telling(kind: str) -> Iterator[None]:
    """Turn an error of the engine's into a Failure of this kind."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        text = str(error)
        if is_refusal(error, text):
            raise Refused(text) from error
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {text} ({last.filename}:{last.lineno})"
        raise Failure(f"{kind} raises {type(error).__name__}", text) from error


def is_refusal(error: Exception, text: str) -> bool:
    """Tell whether an error says that there is no answer, and not that one went wrong."""
    if isinstance(error, yota.RuleError):
        return "the rule of" not in text
    return isinstance(error, yota.TraceError) or "unsupported in linalg" in text


def must_equal(kind: str, got: Any, want: Any) -> None:
    text = unequal(got, want)
    if text is not None:
        raise Failure(kind, text)
