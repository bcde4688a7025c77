"""NumPy's warnings of what is computed beside the trace, which a program would not repeat."""

from __future__ import annotations

import weakref

from yota.tracing import Trace


class Ears:
    """Hear them while a function is traced; they still reach the user."""

    def __init__(self, trace: Trace) -> None:
        self.trace = weakref.ref(trace)
        self.heard = ""
        trace.warn = self  # type: ignore[method-assign]  # NumPy is given what stands here

    def __call__(self, what: str, flag: int) -> None:
        """Take a warning as NumPy words it."""
        trace = self.trace()
        if trace is None:
            return
        if not trace.running:
            self.heard = f"{trace.origin().place}: NumPy warns of a computation without arguments"
        type(trace).warn(trace, what, flag)
