"""Append the derivatives of an output to the tape that it was recorded on."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.functional import cast
from yota.rules.registry import NONDIFF, REFUSED, VJP, Live, Vjp, unbroadcast, zero
from yota.tape import Call, Origin, Spec, Var, format_call, map_vars, spec_of, vars_in
from yota.tracing import Failure, Trace, Traced

SEED = Origin(role="seed", note="seed")


class Mask:
    """The live elements of one cotangent, computed when somebody asks: a node of a lazy graph."""

    __slots__ = ("box", "make", "parents")

    def __init__(self, parents: Sequence[Mask], make: Callable[..., Any]) -> None:
        self.parents, self.make, self.box = tuple(parents), make, None

    def get(self) -> Any:
        """Return the mask as a traced array of bools, recording what is not recorded yet."""
        stack = [self]
        while stack:
            top = stack[-1]
            waiting = [p for p in top.parents if p.box is None] if top.box is None else []
            if waiting:
                stack.extend(waiting)
                continue
            if top.box is None:
                top.box = top.make(*(p.box for p in top.parents))
                top.parents = ()
            stack.pop()
        return self.box


def backprop(
    trace: Trace, seeds: Iterable[tuple[Traced, Any]], wrt: Sequence[Var], start: int = 1
) -> list[Traced | None]:
    """Record the reverse pass and return the cotangents of `wrt`, None where there is no path.

    `seeds` are outputs with their cotangents; ops before number `start` are constants.
    """
    return _Backprop(trace, wrt, start).run(list(seeds))


class _Backprop:
    def __init__(self, trace: Trace, wrt: Sequence[Var], start: int) -> None:
        self.trace, self.tape, self.start = trace, trace.tape, start
        self.wrt, self.is_wrt = list(wrt), set(wrt)
        self.cotangent: dict[Var, Any] = {}
        self.parts: dict[Var, dict[int, Any]] = {}
        self.part_live: dict[Var, dict[int, Mask | None]] = {}
        self.live: dict[Var, Mask | None] = {}
        self.needed: set[Var] = set(wrt)

    def run(self, seeds: list[tuple[Traced, Any]]) -> list[Traced | None]:
        last = max((y._var.id for y, _ in seeds), default=0)
        self.find_needed(last)
        for y, dy in seeds:
            if y._var in self.needed:
                self.add(y._var, dy, None, Origin(role="seed", wrt=y._var))
        for number in range(last, self.start - 1, -1):
            var = Var(number)
            if var in self.needed and (var in self.cotangent or var in self.parts):
                self.step(var)
        return [self.cotangent.get(v) for v in self.wrt]

    def find_needed(self, last: int) -> None:
        """Collect what depends on `wrt` through differentiable functions."""
        for number in range(self.start, last + 1):
            op = self.tape.ops[Var(number)]
            if not isinstance(op, Call) or op.fn in NONDIFF or not _can_carry(op):
                continue
            if any(v in self.needed for v in op.operands):
                self.needed.add(Var(number))

    def step(self, var: Var) -> None:
        op = self.tape.ops[var]
        dy = self.collect(var)
        if isinstance(dy, Traced):
            self.tape.cotangents[var] = dy._var
        if not isinstance(op, Call):
            return
        if op.fn is operator.getitem and self.tape[op.args[0]].spec.kind == "tuple":
            self.add_part(op.args[0], op.args[1], dy, var)
            return
        vjp = VJP.get(op.fn)
        if vjp is None:
            raise self.no_rule(var, op, None)
        _Pull(self, var, op, vjp, dy).run()

    def collect(self, var: Var) -> Any:
        """Return the cotangent of an op; for a tuple a tuple, with zeros where nothing arrived."""
        if var not in self.parts:
            return self.cotangent[var] if var in self.is_wrt else self.cotangent.pop(var)
        parts, items = self.parts.pop(var), self.trace.values[var]
        self.live[var] = self.mask_of_parts(var)
        with self.trace.marked(Origin(self.tape[var].origin.frames, of=var, role="rule")):
            return tuple(
                parts[k] if k in parts else self.trace.unused(np.zeros_like(v))
                for k, v in enumerate(items)
            )

    def add_part(self, whole: Var, k: int, dy: Any, of: Var) -> None:
        parts = self.parts.setdefault(whole, {})
        live = self.live.pop(of, None)
        if k in parts:
            origin = Origin(self.tape[of].origin.frames, of, whole, "accumulate")
            with self.trace.marked(origin):
                dy = parts[k] + dy
            live = None
        parts[k] = dy
        self.part_live.setdefault(whole, {})[k] = live

    def mask_of_parts(self, var: Var) -> Mask | None:
        """Return the mask of a tuple: an item that nothing arrived at is dead altogether."""
        live = self.part_live.pop(var)
        items = self.trace.values[var]
        if len(live) == len(items) and not any(live.values()):
            return None
        waiting = [k for k, m in live.items() if m is not None]

        def make(*masks: Any) -> Any:
            known = dict(zip(waiting, masks, strict=True))
            return tuple(
                known[k] * 1.0
                if k in known
                else self.trace.constant(np.full(np.shape(v), 1.0 if k in live else 0.0))
                for k, v in enumerate(items)
            )

        return Mask([live[k] for k in waiting], make)  # type: ignore[misc]  # those that are not None

    def add(self, var: Var, dx: Any, live: Mask | None, origin: Origin) -> None:
        """Add one contribution to the cotangent of `var`."""
        if var not in self.needed:
            return
        dx = self.conform(var, dx, origin)
        if var not in self.cotangent:
            self.cotangent[var], self.live[var] = dx, live
            self.note(var, dx)
            return
        with self.trace.marked(Origin(origin.frames, origin.of, var, "accumulate")):
            total = self.cotangent[var] + dx
        # a sum in another byte order comes back in the machine's own
        total = self.cotangent[var] = self.conform(var, total, origin)
        self.note(var, total)
        before = self.live[var]
        self.live[var] = None if before is None or live is None else Mask((before, live), _either)

    def note(self, var: Var, dx: Any) -> None:
        if var in self.is_wrt:
            self.tape.cotangents[var] = dx._var

    def conform(self, var: Var, dx: Any, origin: Origin) -> Traced:
        """Return a cotangent in the dtype of its primal; a wrong shape is an error."""
        primal = self.tape[var].spec
        with self.trace.marked(origin):
            if not isinstance(dx, Traced):
                self.check_number(dx, var, origin)
                dx = self.trace.constant(np.asarray(dx) if primal.kind == "array" else dx)
            if np.shape(dx) != primal.shape:
                raise self.failed(RuleError(self.wrong_shape(origin, dx, var)), origin.of)
            if np.iscomplexobj(dx._value) and primal.dtype.kind != "c":
                dx = np.real(dx)
            if not _is_weak(dx) and _is_other(dx, primal) and not _fits(dx, primal):
                dx = cast(dx, primal.dtype)
        return dx  # type: ignore[no-any-return]  # a box

    def check_number(self, dx: Any, var: Var, origin: Origin) -> None:
        """Raise RuleError for a rule that returned no number."""
        if spec_of(dx).kind in ("tuple", "object"):
            of = self.tape[origin.of] if origin.of else None
            name = of.name if isinstance(of, Call) else "the seed"
            text = f"{origin.place}: the rule of {name} returned {dx!r} for an operand ({var})"
            raise self.failed(RuleError(f"{text}; a rule returns an array or a number"), origin.of)

    def wrong_shape(self, origin: Origin, dx: Any, var: Var) -> str:
        of = self.tape[origin.of] if origin.of else None
        name = of.name if isinstance(of, Call) else "the seed"
        have, wanted = np.shape(dx), self.tape[var].spec.shape
        repeated = len(have) >= len(wanted) and all(
            n in (1, m) for n, m in zip(wanted[::-1], have[::-1], strict=False)
        )
        cure = (
            ", with yota.elementwise in place of yota.defvjp what broadcasting repeated is summed"
        )
        return (
            f"{origin.place}: the rule of {name} gave a cotangent of shape {have} for an "
            f"operand of shape {wanted} ({var}); "
            f"a rule returns the shape of its operand{cure if repeated else ''}"
        )

    def failed(self, error: RuleError, of: Var | None) -> RuleError:
        """Note which op's derivative failed, for whoever observes."""
        op = self.tape[of] if of is not None else None
        if isinstance(op, Call):
            operands = tuple(self.trace.values[v] for v in op.operands)
            self.trace.failure = Failure(op.fn, operands, replace(op.origin, of=of), error)
        return error

    def no_rule(self, var: Var, op: Call, position: int | str | None) -> RuleError:
        shapes = ", ".join(
            self.tape[v].spec.text(short=True) for v in op.operands if v in self.tape
        )
        which = "" if position is None else f" with respect to operand {position}"
        cure = f"{REFUSED[op.fn]}; " if op.fn in REFUSED else ""
        error = RuleError(
            f"{op.origin.place}: no derivative of {op.name} is known{which}: "
            f"{var} = {format_call(op)} on {shapes}; {cure}register one with "
            f"yota.defvjp({op.name}, rule), or use yota.stop_gradient on the operand"
        )
        return self.failed(error, var)


def _can_carry(op: Call) -> bool:
    return op.spec.kind == "tuple" or (op.spec.dtype is not None and op.spec.dtype.kind in "fc")


def _fits(box: Traced, primal: Spec) -> bool:
    """Tell whether a cotangent may keep its dtype: a Python number's, up to Python's precision."""
    return primal.weak and box._value.dtype.itemsize <= primal.dtype.itemsize


def _is_other(box: Traced, primal: Spec) -> bool:
    """Tell whether a cotangent's dtype is not its primal's; scalars have but one byte order."""
    if isinstance(box._value, np.generic):
        return bool(box._value.dtype != primal.dtype.newbyteorder("="))
    return bool(box._value.dtype != primal.dtype)


def _is_weak(box: Traced) -> bool:
    return not isinstance(box._value, np.ndarray | np.generic)


def _any_item(weights: Any) -> Any:
    """Return the elements that are live in any of a tuple's items."""
    return functools.reduce(np.logical_or, (w != 0 for w in weights))


def _either(a: Any, b: Any) -> Any:
    return np.logical_or(a, b)


class _Pull:
    """One op's rules at work: from the cotangent of its output to those of its operands."""

    def __init__(self, back: _Backprop, var: Var, op: Call, vjp: Vjp, dy: Any) -> None:
        self.back, self.trace = back, back.trace
        self.var, self.op, self.vjp, self.dy = var, op, vjp, dy
        self.frames = op.origin.frames
        self.live = back.live.pop(var, None)
        self.args = [map_vars(a, self.lift) for a in op.args]
        self.kwargs = {k: map_vars(v, self.lift) for k, v in op.kwargs}
        self.y = self.lift(var)
        self.mode = vjp.mode(*self.args, **self.kwargs)

    def lift(self, var: Var) -> Any:
        value = self.trace.values[var]
        if isinstance(value, tuple | list):
            return tuple(Traced(self.trace, var, v) for v in value)
        return Traced(self.trace, var, value)

    def run(self) -> None:
        needed = self.back.needed
        if isinstance(self.trace.values[self.var], tuple | list):
            self.y = self.items()
            if self.live is not None and self.mode in (Live.SMOOTH, Live.POINTWISE):
                self.live = Mask((self.live,), _any_item)
        for position, arg in enumerate(self.op.args):
            wanted = [v for v in vars_in(arg) if v in needed]
            if wanted:
                self.pull(position, arg, wanted[0])
        for name, arg in self.op.kwargs:
            wanted = [v for v in vars_in(arg) if v in needed]
            if wanted:
                self.pull(name, arg, wanted[0])

    @property
    def item(self) -> Any:
        """The output; of a tuple the first item, all being of one shape where that matters."""
        return self.y[0] if isinstance(self.y, tuple) else self.y

    def items(self) -> Any:
        """Return the boxes of a tuple's items, which stand right behind it on the tape."""
        values = self.trace.values[self.var]
        return tuple(Traced(self.trace, Var(self.var.id + 1 + k), v) for k, v in enumerate(values))

    def operand(self, position: int | str) -> Any:
        """Return the lifted operand at a position, or of a name."""
        return self.kwargs[position] if isinstance(position, str) else self.args[position]

    def pull(self, position: int | str, arg: Any, wrt: Var) -> None:
        rule = self.vjp.rule(position)
        if rule is zero:
            return
        if rule is None:
            raise self.back.no_rule(self.var, self.op, position)
        origin = Origin(self.frames, self.var, wrt, "rule")
        with self.trace.marked(origin):
            dx = self.apply(rule, position, self.dy)
        if dx is None and not (getattr(rule, "__module__", None) or "").startswith("yota."):
            raise self.back.failed(RuleError(self.no_answer(position)), self.var)
        if dx is not None:
            self.hand(arg, dx, self.live_of(rule, position, arg), origin)

    def no_answer(self, position: int | str) -> str:
        return (
            f"{self.op.origin.place}: the rule of {self.op.name} for operand {position} returned "
            "None; a rule returns an array or a number, and yota.zero in its place says that the "
            "derivative is zero"
        )

    def apply(self, rule: Any, position: int | str, dy: Any, is_mask: bool = False) -> Any:
        inner = getattr(rule, "inner", None)
        try:
            if inner is None:
                return rule(dy, self.y, *self.args, **self.kwargs)
            dx = inner(dy, self.y, *self.args, **self.kwargs)
        except Exception as error:
            if isinstance(self.trace.failure, type(None)):
                error.add_note(f"yota: in the rule of {self.op.name}  {self.op.origin.place}")
            raise
        if dx is None:
            return None
        if self.mode is Live.POINTWISE and not is_mask:
            dx = self.masked(dx, position)
        shape = np.shape(self.operand(position))
        if np.shape(dx) == shape:
            return dx
        mark = self.trace.mark or Origin()
        with self.trace.marked(Origin(mark.frames, mark.of, mark.wrt, "unbroadcast")):
            return unbroadcast(dx, shape)

    def masked(self, dx: Any, position: int | str) -> Any:
        """Leave out dead elements, whose slope need not be finite."""
        if self.live is None or _has_finite_slope(self.op, position):
            return dx
        return np.where(self.live.get(), dx, 0.0)

    def live_of(self, rule: Any, position: int | str, arg: Any) -> Any:
        """Return the live mask of one operand, lazily; of a list one mask for all its items."""
        mode, live = self.mode, self.live
        if mode is Live.OPAQUE or (live is None and mode is not Live.SELECTS):
            return self.seen() if position == 0 else None
        if mode in (Live.SMOOTH, Live.POINTWISE):
            shape = np.shape(self.operand(position))
            if live is not None and shape != np.shape(self.item):
                return Mask((live,), lambda m: unbroadcast(m, shape) != 0)
            return live
        return self.moved(rule, position)

    def seen(self) -> Any:
        """Return the mask of what this very call looks at, None if that is everything."""
        make = None if self.vjp.sees is None else self.vjp.sees(*self.args, **self.kwargs)
        if make is None:
            return None
        origin = Origin(self.frames, self.var, None, "rule", "which elements are live")

        def marked() -> Any:
            with self.trace.marked(origin):
                return make()

        return Mask((), marked)

    def moved(self, rule: Any, position: int | str) -> Any:
        """Apply the op's own rule to the mask: it moves and sums, with weights above zero."""
        live = self.live
        origin = Origin(self.frames, self.var, None, "rule", "which elements are live")

        def make(*masks: Any) -> Any:
            with self.trace.marked(origin):
                ones = _weights(masks[0]) if masks else _all_live(self.y)
                return self.apply(rule, position, ones, is_mask=True)

        return Mask(() if live is None else (live,), make)

    def hand(self, arg: Any, dx: Any, live: Any, origin: Origin) -> None:
        if isinstance(arg, Var):
            mask = live
            if live is not None and self.mode in (Live.MOVES, Live.SELECTS):
                mask = Mask((live,), _nonzero)
            self.back.add(arg, dx, mask, origin)
        elif isinstance(arg, tuple | list | dict):
            pairs = [
                (k, arg[k], dx[k]) for k in (arg if isinstance(arg, dict) else range(len(arg)))
            ]
            for k, a, d in pairs:
                if d is not None and any(v in self.back.needed for v in vars_in(a)):
                    part = None if live is None else Mask((live,), operator.itemgetter(k))
                    at = next(iter(vars_in(a)))
                    self.hand(a, d, part, Origin(origin.frames, origin.of, at, origin.role))


def _weights(mask: Any) -> Any:
    return mask if isinstance(mask, tuple) else mask * 1.0


def _all_live(y: Any) -> Any:
    if isinstance(y, tuple):
        return tuple(map(_all_live, y))
    return np.ones_like(y, dtype=float)


def _nonzero(weights: Any) -> Any:
    return weights != 0


def _has_finite_slope(op: Call, position: int | str) -> bool:
    """Tell whether the slope is a finite literal, so that a dead element needs no mask."""
    if len(op.args) != 2 or isinstance(position, str):
        return False
    other = op.args[1 - position]
    if type(other) not in (int, float) or not math.isfinite(other):
        return False
    if op.fn in (np.multiply, operator.mul):
        return True
    return op.fn in (np.divide, operator.truediv) and position == 0 and other != 0
