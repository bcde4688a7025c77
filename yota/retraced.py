"""The reverse pass of a function that is traced at each call: compiled once, used while it fits.

Such a function runs anew each time, on boxes.  Where its ops are those of an earlier call, but for
the values of inputs and constants, so are those of the reverse pass, which takes every value that
it reads of the forward pass as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from yota.captured.same import same_value
from yota.codegen.fits import same_structure
from yota.codegen.runtime import MISS, Miss
from yota.program import Program, forward_part
from yota.recording import Recording
from yota.rules.registry import PRIMITIVES, VJP
from yota.structs import flatten
from yota.tape import Call, Constant, Entry, Input, Op, Structured, Tape, Var, tree_vars
from yota.tracing import Traced
from yota.tracing.recorder import LIFTED, Place, may_lift

# after so many equal calls the reverse pass is compiled
_PATIENCE = 2
# so many are kept for one function, and after so many without use no more are
_MOST = 4
_IN_VAIN = 12
# literals that rules may turn into other literals, but read nothing else of
_FIXED = (float, complex, int, bool, str, bytes, type(None), type(...), type, np.dtype, np.generic)
_MODULES = ("numpy", "operator", "_operator", "builtins", "yota.rules")


class Reverse:
    """What the reverse pass of one recorded call makes of the values of its forward pass.

    `tape` is the whole one, `guards` the number of those that the forward pass left.
    """

    def __init__(self, tape: Tape, guards: int, exact: bool) -> None:
        self.tape, self.guards, self.exact = without_values(tape), guards, exact
        self.equal = 0
        self.is_sound = all(map(is_sound, self.forward))
        self.reads: list[Var] = []
        self.enter: Callable[..., Any] | None = None

    @property
    def forward(self) -> list[Op]:
        """The ops of the function itself."""
        return [op for var, op in self.tape if not self.tape.is_reverse(var)]

    def gradients(self, recording: Recording, y: Any) -> Any:
        """Return the gradients of a call that was just traced; MISS where they must be recorded."""
        if not self.is_sound or not isinstance(y, Traced) or not self.fits(recording.tape):
            return MISS
        self.equal += 1
        if self.equal < _PATIENCE:
            return MISS
        if self.enter is None:
            self.compile()
        values = [recording.trace.values[v] for v in self.reads]
        try:
            result = self.enter(*values) if self.enter is not None else MISS
        except Exception:
            # recorded below, it raises with the user's line
            return MISS
        return MISS if isinstance(result, Miss) else result[1]

    def program(self, front: Tape, why: str) -> Program:
        """Return the program of a call of which only the forward part was recorded."""
        return Program(self.whole(front), why_retraced=why)

    def fits(self, tape: Tape) -> bool:
        """Tell whether a forward tape consists of the same ops, whatever their values."""
        ours = self.tape
        start = ours.reverse_start.id if ours.reverse_start is not None else 0
        if tape.next_id != start or tape.inputs != ours.inputs:
            return False
        if not is_same_entry(tape.entry, ours.entry) or not is_same_result(tape, ours):
            return False
        return all(var in ours.ops and is_same_op(op, ours.ops[var]) for var, op in tape)

    def compile(self) -> None:
        """Make the function of the values that the reverse pass reads."""
        tape, self.reads = backward_part(self.tape, self.guards)
        if all(tape[v].spec.dtype is not None for v in self.reads):
            self.enter = Program(tape, exact=self.exact).entry()
        else:
            self.is_sound = False

    def whole(self, front: Tape) -> Tape:
        """Return the tape of a call, forward and reverse, of which the forward part is given."""
        new = self.tape.shell()
        new.entry, new.result = front.entry, front.result
        for var, op in self.tape:
            new.push(op if self.tape.is_reverse(var) else front[var], var)
        new.guards = [*front.guards, *self.tape.guards[self.guards :]]
        return new

    def varied(self, front: Tape) -> set[Place]:
        """Return where numbers differ from those of the earlier call: which call, which operand."""
        calls = [op for _, op in front if isinstance(op, Call)]
        before = [op for op in self.forward if isinstance(op, Call)]
        if len(calls) != len(before):
            return set()
        return {
            (k, at)
            for k, (a, b) in enumerate(zip(calls, before, strict=True))
            if a.fn is b.fn and may_lift(a.fn) and len(a.args) == len(b.args)
            for at, (x, z) in enumerate(zip(a.args, b.args, strict=True))
            if type(x) is type(z) and type(x) in LIFTED and not is_same(x, z)
        }


class Reverses:
    """The reverse passes of one function that is traced at each call, the latest first."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.known: tuple[Reverse, ...] = ()
        self.in_vain = 0
        self.varying: set[Place] = set()

    def find(self, recording: Recording, y: Any) -> tuple[Any, Reverse] | None:
        """Return the gradients of a call that was just traced, None where none of them fits."""
        for reverse in self.known:
            gradients = reverse.gradients(recording, y)
            if gradients is not MISS:
                self.in_vain = 0
                return gradients, reverse
        return None

    def learn(self, tape: Tape, guards: int) -> None:
        """Keep the reverse pass that was recorded, unless it is known or nothing comes of it."""
        if self.in_vain > _IN_VAIN or any(r.fits(forward_part(tape)) for r in self.known):
            return
        self.in_vain += 1
        if self.known:
            self.varying = self.varying | self.known[0].varied(forward_part(tape))
        self.known = (Reverse(tape, guards, self.exact), *self.known[: _MOST - 1])


def without_values(tape: Tape) -> Tape:
    """Return a tape whose forward constants are known by their types alone."""
    new = tape.shell()
    for var, op in tape:
        if isinstance(op, Constant) and not tape.is_reverse(var):
            op = Constant(spec=op.spec, origin=op.origin, value=None, name=op.name)
        new.push(op, var)
    new.guards = list(tape.guards)
    return new


def backward_part(tape: Tape, guards: int) -> tuple[Tape, list[Var]]:
    """Return the reverse pass as a tape of its own, and what it reads of the forward pass."""
    late = tape.guards[guards:]
    handed = [v for g in tape.gradients or () for v in tree_vars(g)]
    used = [v for var, op in tape if tape.is_reverse(var) for v in operands_of(op)]
    reads = sorted({v for v in (*used, *handed, *(g.var for g in late)) if not tape.is_reverse(v)})
    args = tuple(flatten(0.0, first=k)[1] for k in range(len(reads)))
    new = tape.shell()
    new.entry = Entry(f"{tape.entry.name}_reverse", args, names=tuple(f"v{v.id}" for v in reads))
    new.result = Structured(flatten(None)[1], (), ())
    new.reverse_start, new.cotangents, new.fates = None, {}, {}
    for var in reads:
        new.push(Input(spec=tape[var].spec, origin=tape[var].origin, name=f"v{var.id}"), var)
    for var, op in tape:
        if tape.is_reverse(var):
            new.push(op, var)
    new.guards, new.next_id = list(late), tape.next_id
    return new, reads


def operands_of(op: Op) -> Iterator[Var]:
    """Yield the vars that an op reads."""
    return iter(op.operands if isinstance(op, Call) else ())


# what is the same


def is_sound(op: Op) -> bool:
    """Tell whether the derivative of an op is this library's and reads its operands alone."""
    if not isinstance(op, Call):
        return True
    if not isinstance(op.fn, np.ufunc):
        module = getattr(op.fn, "__module__", None) or ""
        if not any(module == m or module.startswith(f"{m}.") for m in _MODULES):
            return False
    if op.fn in PRIMITIVES and not str(op.fn.__module__).startswith("yota."):
        return False
    vjp = VJP.get(op.fn)
    if vjp is None:
        return True
    rules = [*vjp.rules, *vjp.keywords.values(), vjp.rest, vjp.sees, vjp.live]
    modules = [getattr(r, "__module__", None) for r in rules if callable(r)]
    return all(m is not None and m.startswith("yota.") for m in modules)


def is_same_entry(a: Entry, b: Entry) -> bool:
    """Tell whether arguments had the same structure."""
    if (len(a.args), a.as_float) != (len(b.args), b.as_float):
        return False
    if [k for k, _ in a.kwargs] != [k for k, _ in b.kwargs]:
        return False
    pairs = [*zip(a.args, b.args, strict=True)]
    pairs += [(x, z) for (_, x), (_, z) in zip(a.kwargs, b.kwargs, strict=True)]
    return all(same_structure(x, z) for x, z in pairs)


def is_same_result(a: Tape, b: Tape) -> bool:
    """Tell whether the same var is the function's value."""
    x, z = a.result, b.result
    both = isinstance(x, Structured) and isinstance(z, Structured)
    return both and [*map(var_of, x.leaves)] == [*map(var_of, z.leaves)]


def var_of(leaf: Any) -> Any:
    """Return a leaf of a result, None where it is no var."""
    return leaf if isinstance(leaf, Var) else None


def is_same_op(a: Op, b: Op) -> bool:
    """Tell whether two ops are the same but for what an input or constant is."""
    if type(a) is not type(b) or a.spec != b.spec or a.origin.frames != b.origin.frames:
        return False
    if not isinstance(a, Call) or not isinstance(b, Call):
        return True
    return a.fn is b.fn and is_same(a.args, b.args) and is_same(a.kwargs, b.kwargs)


def is_same(a: Any, b: Any) -> bool:
    """Tell whether two operands are the same vars and equal literals, to the bit and the type."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is Var:
        return bool(a.id == b.id)
    if kind is tuple or kind is list:
        return len(a) == len(b) and all(map(is_same, a, b))
    if kind is dict:
        return [*a] == [*b] and all(map(is_same, a.values(), b.values()))
    if kind is slice:
        return is_same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    return isinstance(a, _FIXED) and (a is b or same_value(a, b))
