"""Observe the engine without ever getting in the script's way."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from yota.program import Failed
from yotaview.capture.recorder import Recorder
from yotaview.capture.rows import Limits


class Watch(Recorder):
    """A recorder whose own failures do not reach the script; `missed` says what they were."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.missed, self.process = "", os.getpid()

    def __call__(self, event: Any) -> None:
        """Take one event of the engine, but none of a process that the script forked."""
        if os.getpid() != self.process:
            return
        try:
            super().__call__(event)
        except Exception as error:  # from a class of the script, or for want of memory
            self.missed = self.missed or f"not everything kept: {told(error)}"

    def _failed(self, event: Failed) -> None:
        if any(error is event.error for _, error in self.failures):
            return
        shown = printable(event.error)
        try:
            super()._failed(replace(event, error=shown))
        except Exception:  # an operand that cannot be shown: the line is shown instead
            super()._failed(replace(event, fn=None, operands=(), error=shown))
        self.failures[:] = [(row, event.error if e is shown else e) for row, e in self.failures]


def told(error: BaseException) -> str:
    """Return an error in a line, as `ValueError: ...`, whatever its class does."""
    name = class_name(error)
    try:
        text = str(error)
    except Exception:
        text = f"<unprintable {name}>"
    first = next(iter(text.splitlines()), "")
    return f"{name}: {first}" if first else name


def class_name(thing: object) -> str:
    """Return the name of a thing's class, whatever its metaclass does."""
    return str(type.__getattribute__(type(thing), "__name__"))


def printable(error: BaseException) -> BaseException:
    """Return an error, or one in its place that has a text."""
    try:
        str(error)
    except Exception:
        name = class_name(error)
        stand_in: type[Exception] = type(name, (Exception,), {})
        return stand_in(f"<unprintable {name}>")
    return error
