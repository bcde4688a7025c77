"""Which program answers a call: found by the function's code, valid while its captured state is.

A slot holds the programs of one code object and one way of calling `grad`.  A program answers where
its check of captured state and its entry check of the arguments agree, and no guard inside fails;
else the function is traced again.  Neither functions nor arguments are kept alive.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from yota.captured import Captured, Unprovable, capture
from yota.captured.ears import Ears
from yota.captured.roots import is_fixed, roots_of
from yota.codegen import Check
from yota.compiled import ALL, Compiled
from yota.entry import Entry
from yota.errors import GuardError
from yota.passes.purity import is_pure
from yota.program import MISS, Program, exactly
from yota.recording import Recording
from yota.replay import conform
from yota.retraced import Reverses
from yota.rules import registry
from yota.structs import Node, Static
from yota.tape import Call, Constant, Input, Tape

MAX_PROGRAMS = 1024
MAX_PER_SLOT = 32
MAX_BYTES = 1 << 28
# after so many traces in vain, only every so many calls is it tried again
_PATIENCE = 4
_REST = 64
# after so many traces the use of programs is looked up
_SWEEP = 64


ALWAYS = Captured(lambda f, args, kwargs=None, found=None: True, Check(), 0)


def unmade(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any = None) -> Any:
    """Stand for a program's code until it is first needed."""
    return MISS


class CacheInfo(NamedTuple):
    """How the cache has been used since the last reset."""

    hits: int
    misses: int
    retraced: int
    programs: int
    nbytes: int


class Cached:
    """A program with the check of the captured state that it was recorded under."""

    __slots__ = (
        "answer", "check", "count", "fresh", "hits", "nbytes", "program", "seen", "tick",
    )  # fmt: skip

    def __init__(self, program: Program, captured: Captured, answer: Any = unmade) -> None:
        self.count = len(program.tape.gradients or ())
        # of what was captured, not what was met on the way: that would stay alive
        self.program, self.fresh, self.check = program, captured.fresh, captured.check
        self.answer: Callable[..., Any] = answer
        self.nbytes = captured.nbytes + constant_bytes(program.tape)
        self.hits = self.seen = self.tick = 0

    def prepare(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any, exact: bool
    ) -> bool:
        """Compile the code if this call can use it; tell whether that was done."""
        if self.answer is not unmade or not self.fresh(f, args, kwargs):
            return False
        if not fits(self.program.tape, args, kwargs, seed):
            return False
        self.answer = exactly(self.program, exact).answering(self.check)
        return True


def _nothing() -> Cached:
    """Return what answers no call."""
    cached = Cached.__new__(Cached)
    cached.answer, cached.count, cached.hits = unmade, 0, 0
    return cached


NOTHING = _nothing()


class Slot:
    """The programs of one code object, or of one compiled function, under one way of calling."""

    def __init__(self, code: Any, exact: bool) -> None:
        self.code, self.exact = code, exact
        self.hold(())
        self.is_held = True
        self.in_vain = 0
        self.why = ""
        self.reverses = Reverses(exact)

    def hold(self, programs: tuple[Cached, ...]) -> None:
        """Put these programs in the place of those that were here; the newest stands first."""
        self.programs = programs
        self.first = programs[0] if programs else NOTHING

    def find(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what fits with its result, else `NOTHING` and MISS; raise what a program raises.

        What fits is asked first at the next call.
        """
        for cached in self.programs:
            result = cached.answer(f, args, kwargs)
            if result is not MISS:
                with _lock:
                    # another thread may have dropped it
                    self.first = cached if cached in self.programs else NOTHING
                return cached, result
        return NOTHING, MISS

    def answer(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any) -> Any:
        """Return the result and the program of what fits, else None."""
        given = () if seed is None or type(seed) is str else (seed,)
        for cached in self.programs:
            try:
                result = cached.answer(f, args, kwargs, *given)
                if result is MISS and cached.prepare(f, args, kwargs, seed, self.exact):
                    result = cached.answer(f, args, kwargs, *given)
            except Exception:
                # the function may catch it; traced anew, it raises at the user's line
                continue
            if result is not MISS:
                cached.hits += 1
                return result, cached.program
        return None

    def may_try(self) -> bool:
        """Tell whether it is worth the while to look at the captured state once more."""
        return self.in_vain < _PATIENCE or self.in_vain % _REST == 0


@dataclass
class _State:
    hits: int = 0
    misses: int = 0
    retraced: int = 0
    tick: int = 0
    nbytes: int = 0
    programs: int = 0


_state = _State()
USUAL = (None, False, None)
# by code object, for the usual way of calling; else by way of calling as well
SLOTS: OrderedDict[Any, Slot] = OrderedDict()
_lock = threading.RLock()


def reset() -> None:
    """Forget every program, and count from zero."""
    global _state
    with _lock:
        for slot in SLOTS.values():
            slot.hold(())
            slot.is_held = False
        SLOTS.clear()
        for compiled in list(ALL):
            for slot in compiled.slots.values():
                slot.hold(())
                slot.is_held = False
            compiled.slots.clear()
        _state = _State()


registry.CHANGED.append(reset)


def cache_info() -> CacheInfo:
    """Return the numbers of hits, misses and calls traced on principle, and what is held."""
    s = _state
    slots = [*SLOTS.values(), *(slot for f in list(ALL) for slot in f.slots.values())]
    hits = s.hits + sum(c.hits for slot in slots for c in slot.programs)
    return CacheInfo(hits, s.misses, s.retraced, s.programs, s.nbytes)


def code_of(f: Any) -> Any:
    """Return what the programs of a callable are found by: its code, or its class's."""
    # by types alone: an object may compute its attributes
    while type(f) is functools.partial:
        f = f.func
    if type(f) is MethodType:
        return code_of(f.__func__)
    if type(f) is FunctionType:
        return f.__code__
    called = type(f).__call__
    return called.__code__ if type(called) is FunctionType else f


def slot_of(f: Any, options: tuple[Any, ...], exact: bool) -> Slot:
    """Return the slot of a callable and a way of calling."""
    if type(f) is Compiled:
        held: Slot = f.slots.setdefault((options, exact), Slot(None, exact))
        return held
    code = f.__code__ if type(f) is FunctionType else code_of(f)
    key = id(code) if options == USUAL and not exact else (id(code), options, exact)
    slot = SLOTS.get(key)
    if slot is None:
        with _lock:
            slot = SLOTS.setdefault(key, Slot(code, exact))
    return slot


class Attempt:
    """One call that is traced, and whether its program may answer another one."""

    def __init__(
        self, slot: Slot, recording: Recording, f: Any, args: tuple[Any, ...], kwargs: Any
    ) -> None:
        self.slot, self.f, self.args, self.kwargs = slot, f, args, kwargs
        self.ears = Ears(recording.trace)
        self.captured = self.capture(recording.tape.entry)

    def capture(self, entry: Entry) -> Captured | None:
        """Return the check of what `f` reads; None, with the slot knowing why, if there is none."""
        slot = self.slot
        if type(self.f) is Compiled:
            return ALWAYS
        if slot.may_try():
            try:
                return capture(roots_of(self.f, entry))
            except Unprovable as why:
                slot.why = str(why)
            except Exception as error:
                # another thread changes what is looked at, or the classes met have their own ways
                slot.why = f"what it reads cannot be looked at: {type(error).__name__}: {error}"
        slot.in_vain += 1
        return None

    def why_not(self, tape: Tape) -> str:
        """Return why the tape that was recorded cannot answer another call, '' if it can."""
        if self.captured is None:
            return self.slot.why
        if self.captured is not ALWAYS and self.ears.heard:
            return self.ears.heard
        if self.captured is not ALWAYS and self.told():
            return f"{self.told()}: it makes a text of a traced value"
        # also by another object of equal content, which others may hold
        if not self.captured.fresh(self.f, self.args, self.kwargs, self.captured.found):
            return "it changes what it reads from outside"
        return not_repeatable(tape)

    def told(self) -> str:
        """Return where a text was made of a traced value, '' if nowhere."""
        trace = self.ears.trace()
        return trace.told if trace is not None else ""

    def keep(self, program: Program, answer: Any = unmade) -> None:
        """Put the program into the slot; else note on it why every call is traced.

        `answer`, where it is given, answers instead of the program's code.
        """
        slot, captured = self.slot, self.captured
        program.why_retraced = slot.why = self.why_not(program.tape)
        if captured is None or slot.why:
            self.retraced()
        else:
            _state.misses += 1
            slot.in_vain = 0
            insert(slot, Cached(program, captured, answer))

    def retraced(self) -> None:
        """Count a call of a function that is traced each time."""
        _state.misses += 1
        _state.retraced += 1
        self.slot.in_vain += self.captured is not None


def fits(tape: Tape, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any) -> bool:
    """Tell whether arguments have the structure and the types that a tape was recorded with."""
    try:
        leaves = tape.entry.leaves(args, kwargs)
        if len(leaves) < len(tape.inputs):
            leaves.append(as_seed(tape, seed))
        for var, leaf in zip(tape.inputs, leaves, strict=True):
            op = tape[var]
            if isinstance(op, Input):
                conform(leaf, op)
    except (GuardError, ValueError):
        return False
    return True


def as_seed(tape: Tape, seed: Any) -> Any:
    """Return a seed as the input of a tape: in its dtype and, where it has one, its shape."""
    spec = tape[tape.seed].spec if tape.seed is not None else None
    if spec is None or np.shape(seed) != spec.shape:
        return seed
    if spec.kind == "array":
        return np.array(seed, dtype=spec.dtype)
    return spec.dtype.type(seed) if spec.kind == "scalar" else spec.dtype.type(seed).item()


def insert(slot: Slot, cached: Cached) -> None:
    """Put a program into a slot, and drop what is too much."""
    with _lock:
        _state.tick += 1
        cached.tick = _state.tick
        slot.hold((cached, *slot.programs))
        if slot.code is not None:
            _state.programs += 1
            _state.nbytes += cached.nbytes
        if _state.tick % _SWEEP == 0 or is_full(slot):
            sweep()
        if len(slot.programs) > MAX_PER_SLOT:
            drop(slot, min(slot.programs, key=lambda c: c.tick))
        shrink()


def is_full(slot: Slot) -> bool:
    """Tell whether a program has to go."""
    return (
        len(slot.programs) > MAX_PER_SLOT
        or _state.programs > MAX_PROGRAMS
        or _state.nbytes > MAX_BYTES
    )


def sweep() -> None:
    """Note which programs have been used since the last time: a hit itself only counts."""
    for slot in SLOTS.values():
        for cached in slot.programs:
            if cached.hits != cached.seen:
                cached.seen, cached.tick = cached.hits, _state.tick


def drop(slot: Slot, cached: Cached) -> None:
    """Take a program out of its slot."""
    slot.hold(tuple(c for c in slot.programs if c is not cached))
    _state.hits += cached.hits
    if slot.code is not None:
        _state.programs -= 1
        _state.nbytes -= cached.nbytes


def shrink() -> None:
    """Drop the programs that were used least recently, until all bounds are kept."""
    while _state.programs > MAX_PROGRAMS or (_state.nbytes > MAX_BYTES and _state.programs > 1):
        held = [(c.tick, k, s, c) for k, s in enumerate(SLOTS.values()) for c in s.programs]
        if not held:
            return
        _, _, slot, oldest = min(held, key=lambda h: h[:2])
        drop(slot, oldest)
    spare = max(0, len(SLOTS) - MAX_PROGRAMS)
    for key in [k for k, s in SLOTS.items() if not s.programs][:spare]:
        SLOTS.pop(key).is_held = False


def not_repeatable(tape: Tape) -> str:
    """Return why a program cannot make a call's result anew, '' where it can."""
    for _, op in tape:
        if isinstance(op, Call) and not is_pure(op.fn):
            return f"{op.origin.place}: {op.name} does not answer alike each time"
    for value in _statics_of(tape.result):
        if not is_fixed(value):
            return f"its result holds a {type(value).__name__}"
    return ""


def _statics_of(tree: Any) -> Sequence[Any]:
    stack, found = [getattr(tree, "structure", None)], []
    while stack:
        s = stack.pop()
        if isinstance(s, Static):
            found.append(s.value)
        elif isinstance(s, Node):
            stack.extend(s.children)
    return found


def constant_bytes(tape: Tape) -> int:
    """Return how many bytes a tape's constants take."""
    arrays = (op.value for _, op in tape if isinstance(op, Constant))
    return sum(v.nbytes for v in arrays if isinstance(v, np.ndarray)) + sys.getsizeof(tape.ops)
