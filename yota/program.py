"""A traced function through all its stages, and the observers that hear of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from yota import buffers, codegen
from yota.codegen.source import Source
from yota.passes import PIPELINE, Pass, Stage, optimise, optimised
from yota.tape import Frame, Origin, Tape

T = TypeVar("T")

__all__ = ["PIPELINE", "Built", "CallRecord", "Called", "Failed", "Program", "Stage"]


class Program:
    """A recorded tape, its optimised stages and its code; each is made when it is asked for."""

    def __init__(
        self, tape: Tape, passes: Sequence[str | Pass] = PIPELINE, why_retraced: str = ""
    ) -> None:
        self.tape, self.passes = tape, passes
        self.why_retraced = why_retraced or "every call is traced anew"
        self._lock = threading.RLock()
        self._stages: list[Stage] = []
        self._plans: dict[str, buffers.Plan] = {}
        self._sources: dict[str, Source] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self._seconds: dict[str, float] = {}

    @property
    def stages(self) -> list[Stage]:
        """Every stage: `trace`, `reverse` if there is one, each pass, `buffers`, `code`."""
        self.source()
        final, tick = self.optimised, self._seconds
        steps = [("buffers", tick["plan lean"]), ("code", tick["source lean"])]
        return [*self._tape_stages(), *(Stage(n, final, seconds=s) for n, s in steps)]

    def stage(self, name: str) -> Stage:
        """Return one stage; raise KeyError naming the ones there are."""
        known = {s.name: s for s in self.stages}
        if name not in known:
            raise KeyError(f"no stage is named {name!r}; there are {', '.join(known)}")
        return known[name]

    @property
    def optimised(self) -> Tape:
        """The tape behind the last pass."""
        return self._tape_stages()[-1].tape

    def plan(self, form: str = "lean") -> buffers.Plan:
        """Return the buffers of one form of the code."""
        return self._made(self._plans, "plan", form, lambda: buffers.plan(self.optimised, form))

    def source(self, form: str = "lean") -> Source:
        """Return the generated code in one form."""
        plan = self.plan(form)

        def make() -> Source:
            return codegen.generate(self.optimised, form, plan=plan, target=self.tape)

        return self._made(self._sources, "source", form, make)

    def run(self, form: str = "lean") -> Callable[..., Any]:
        """Return the compiled code: a function of the user's arguments; observers hear of it."""
        is_new = form not in self._functions
        function = self._made(self._functions, "run", form, self.source(form).compile)
        if is_new:
            notify(Built(self))
        return function

    def _tape_stages(self) -> list[Stage]:
        with self._lock:
            if not self._stages:
                recorded = [Stage("trace", forward_part(self.tape))]
                if self.tape.reverse_start is not None:
                    recorded.append(Stage("reverse", self.tape))
                self._stages = [*recorded, *optimise(self.tape, self.passes)]
            return self._stages

    def _made(self, known: dict[str, T], what: str, form: str, make: Callable[[], T]) -> T:
        buffers.check_form(form)
        with self._lock:
            if form not in known:
                began = time.perf_counter()
                known[form] = make()
                self._seconds[f"{what} {form}"] = time.perf_counter() - began
            return known[form]


def forward_part(tape: Tape) -> Tape:
    """Return the tape as it was before the reverse pass; the tape itself if there is none."""
    if tape.reverse_start is None:
        return tape
    front = tape.shell()
    front.gradients, front.seed, front.reverse_start, front.cotangents = None, None, None, {}
    for var, op in tape:
        if not tape.is_reverse(var):
            front.push(op, var)
    front.guards = [g for g in tape.guards if g.var in front]
    return front


def compile_tape(
    tape: Tape, passes: Sequence[str | Pass] | None = None, form: str = "lean"
) -> Callable[..., Any]:
    """Return a function generated from a tape; passes None means all."""
    return source_of(tape, PIPELINE if passes is None else passes, form).compile()


def generate_source(
    tape: Tape, passes: Sequence[str | Pass] = PIPELINE, form: str = "bound"
) -> str:
    """Return the Python text of a tape after `passes`, in sections prologue, body and epilogue.

    Form `bound` keeps one buffer an op and writes every value back to the tape; `lean` shares
    buffers and returns fresh arrays.
    """
    return source_of(tape, passes, form).text


def source_of(tape: Tape, passes: Sequence[str | Pass], form: str) -> Source:
    """Return the code of a tape after `passes`."""
    buffers.check_form(form)
    return codegen.generate(optimised(tape, passes), form, target=tape)


def standalone(tape: Tape, passes: Sequence[str | Pass] = PIPELINE) -> Callable[..., Any]:
    """Return a plain function `(value, *gradients)` that needs nothing of this library.

    Its text is its attribute `__source__`.
    """
    source = codegen.standalone_source(optimised(tape, passes))
    function = source.compile()
    function.__source__ = source.text  # type: ignore[attr-defined]  # functions take attributes
    return function


@dataclass(frozen=True)
class CallRecord:
    """One call: private copies of its inputs, in tape order, and plain results."""

    inputs: tuple[Any, ...]
    value: Any
    gradients: tuple[Any, ...]
    site: tuple[Frame, ...]
    kind: str


@dataclass(frozen=True)
class Built:
    """A function was traced and a program made of it."""

    program: Program


@dataclass(frozen=True)
class Called:
    """A program has answered a call."""

    program: Program
    call: CallRecord


@dataclass(frozen=True)
class Failed:
    """Recording stopped: `fn` raised on `operands`."""

    tape: Tape
    fn: Callable[..., Any] | None
    operands: tuple[Any, ...]
    origin: Origin
    error: BaseException


Event = Built | Called | Failed
_observers: list[Callable[[Event], None]] = []


@contextmanager
def observe(callback: Callable[[Event], None]) -> Iterator[None]:
    """Call `callback(event)` for what is built, called or fails inside, in every thread.

    An error in the callback reaches the caller of `grad`.
    """
    _observers.append(callback)
    try:
        yield
    finally:
        # The same callback may observe twice: the latest one goes.
        place = max(k for k, c in enumerate(_observers) if c is callback)
        del _observers[place]


def notify(event: Event) -> None:
    """Tell every observer."""
    for callback in list(_observers):
        callback(event)


def observed() -> bool:
    """Tell whether anybody observes."""
    return bool(_observers)
