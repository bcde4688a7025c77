"""A traced function through all its stages, and the observers that hear of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from yota import buffers, codegen
from yota.codegen.runtime import MISS
from yota.codegen.source import Source
from yota.passes import PIPELINE, Pass, Stage, optimise, optimised
from yota.tape import Frame, Origin, Tape
from yota.tracing.box import BUSY

T = TypeVar("T")

__all__ = ["MISS", "PIPELINE", "Built", "CallRecord", "Called", "Failed", "Program", "Stage"]


class Program:
    """A recorded tape, its optimised stages and its code; each is made when it is asked for.

    An exact program gives the bits of `tape.play`; else named forms may round differently.
    """

    def __init__(
        self,
        tape: Tape,
        passes: Sequence[str | Pass] = PIPELINE,
        why_retraced: str = "",
        exact: bool = False,
    ) -> None:
        self.tape, self.passes, self.exact = tape, passes, exact
        self.why_retraced = why_retraced
        self._lock = threading.RLock()
        self._stages: list[Stage] = []
        self._plans: dict[str, buffers.Plan] = {}
        self._sources: dict[str, Source] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self._entry: Callable[..., Any] | None = None
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

    def tape_of(self, form: str = "lean") -> Tape:
        """Return the tape that one form of the code is made of: in the bound form nothing fused."""
        stages = self._tape_stages()
        fused = form == "bound" and stages[-1].name == "fuse"
        return stages[-2 if fused else -1].tape

    def plan(self, form: str = "lean") -> buffers.Plan:
        """Return the buffers of one form of the code."""
        return self._made(self._plans, "plan", form, lambda: buffers.plan(self.tape_of(form), form))

    @property
    def peak_nbytes(self) -> int:
        """The most bytes that values in buffers take at a time; arrays handed out come on top."""
        return self.plan().peak_nbytes

    def source(self, form: str = "lean") -> Source:
        """Return the generated code in one form."""
        plan = self.plan(form)

        def make() -> Source:
            return codegen.generate(self.tape_of(form), form, plan=plan, target=self.tape)

        return self._made(self._sources, "source", form, make)

    def run(self, form: str = "lean") -> Callable[..., Any]:
        """Return the compiled code: a function of the user's arguments; observers hear of it."""
        is_new = form not in self._functions
        function = self._made(self._functions, "run", form, self.source(form).compile)
        if is_new:
            notify(Built(self))
        return function

    def entry(self) -> Callable[..., Any]:
        """Return the compiled code as `entry_of` does."""
        plan = self.plan()
        with self._lock:
            if self._entry is None:
                source = codegen.generate_entry(
                    self.optimised, plan, target=self.tape, exact=self.exact
                )
                self._entry = source.compile()
            return self._entry

    def answering(self, check: codegen.Check) -> Callable[..., Any]:
        """Return the compiled code as a cache runs it: of the function and all its arguments."""
        source = codegen.generate_answer(
            self.optimised, self.plan(), check, target=self.tape, exact=self.exact
        )
        return source.compile()

    def _tape_stages(self) -> list[Stage]:
        with self._lock:
            if not self._stages:
                recorded = [Stage("trace", forward_part(self.tape))]
                if self.tape.reverse_start is not None:
                    recorded.append(Stage("reverse", self.tape))
                self._stages = [*recorded, *optimise(self.tape, self.passes, self.exact)]
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


def entry_of(made: Program | Tape, exact: bool = False) -> Callable[..., Any]:
    """Return a function of the user's arguments that answers as `tape.play` does, or with MISS.

    MISS says that an argument is of another structure, type, shape or fixed value than the recorded
    one, that there are more or fewer of them, or that Python would take another branch; GuardError
    is never raised.  What is returned is the caller's own; arguments are only read.  Any number of
    threads may call it at once.
    """
    return (
        exactly(made, exact).entry()
        if isinstance(made, Program)
        else Program(made, exact=exact).entry()
    )


def exactly(program: Program, exact: bool) -> Program:
    """Return a program that is exact where that is asked for."""
    same = program.exact or not exact
    return program if same else Program(program.tape, program.passes, exact=True)


def compile_tape(
    tape: Tape,
    passes: Sequence[str | Pass] | None = None,
    form: str = "lean",
    exact: bool = False,
) -> Callable[..., Any]:
    """Return a function generated from a tape; passes None means all."""
    return source_of(tape, PIPELINE if passes is None else passes, form, exact).compile()


def generate_source(
    tape: Tape,
    passes: Sequence[str | Pass] = PIPELINE,
    form: str = "bound",
    exact: bool = False,
) -> str:
    """Return the Python text of a tape after `passes`, in sections prologue, body and epilogue.

    Form `bound` keeps one buffer an op and writes every value back to the tape, so that it fuses
    nothing; `lean` shares buffers and returns fresh arrays.  With `exact` it gives the same bits.
    """
    return source_of(tape, passes, form, exact).text


def source_of(tape: Tape, passes: Sequence[str | Pass], form: str, exact: bool = False) -> Source:
    """Return the code of a tape after `passes`."""
    buffers.check_form(form)
    if form == "bound" and not isinstance(passes, str):
        passes = [p for p in passes if p != "fuse"]
    return codegen.generate(optimised(tape, passes, exact), form, target=tape)


def standalone(tape: Tape, passes: Sequence[str | Pass] = PIPELINE) -> Callable[..., Any]:
    """Return a plain function `(value, *gradients)` that needs nothing of this library.

    Its text is its attribute `__source__`.
    """
    source = codegen.standalone_source(optimised(tape, passes, exact=True))
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
observers: list[Callable[[Event], None]] = []
_SILENT: ContextVar[bool] = ContextVar("yota_silent", default=False)


@contextmanager
def observe(callback: Callable[[Event], None]) -> Iterator[None]:
    """Call `callback(event)` for what is built, called or fails inside, in every thread.

    An error in the callback reaches the caller of `grad`.
    """
    observers.append(callback)
    BUSY.append(None)
    try:
        yield
    finally:
        # The same callback may observe twice: the latest one goes.
        place = max(k for k, c in enumerate(observers) if c is callback)
        del observers[place]
        BUSY.pop()


@contextmanager
def unobserved() -> Iterator[None]:
    """Keep from observers what is built, called or fails inside, in this thread or task."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def notify(event: Event) -> None:
    """Tell every observer."""
    for callback in list(observers) if observed() else ():
        callback(event)


def observed() -> bool:
    """Tell whether anybody observes."""
    return bool(observers) and not _SILENT.get()
