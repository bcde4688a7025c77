"""Try a cure: derive the gradient anew with an op replaced, and see whether it is finite."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import yota
from yota.tape import Call, Constant, Input, Tape, Var, hand_out, map_vars
from yotaview.capture.functions import is_users
from yotaview.model.autopsy import Root
from yotaview.model.autopsy.cures import Ask, Patch
from yotaview.model.autopsy.masks import bad_mask
from yotaview.model.autopsy.oddities import ancestors
from yotaview.model.replay import quiet
from yotaview.model.summary import format_number, numeric

LONGEST = 10_000
SECONDS = 2.0
MOST_TRIED = 8
SHOWN = 4
# what an eps and the digits of a half change, relative to the value
NEAR = 1e-2


class NotTried(Exception):
    """A cure cannot be tried; the text says why."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a cure: whether value and gradient are finite, and what the gradients are.

    `others` are the origins that had to be cured with it, `left` those that stay where it is not.
    """

    finite: bool
    gradients: tuple[tuple[str, Any], ...] = ()
    others: tuple[Var, ...] = ()
    reason: str = ""
    wide: bool = False
    left: tuple[Var, ...] = ()

    @property
    def text(self) -> str:
        """The outcome in a few words."""
        if self.reason:
            return f"not tried: {self.reason}"
        also = (
            " in float64" * self.wide
            + f" together with the cure of {', '.join(map(str, self.others))}" * bool(self.others)
        )
        if not self.finite:
            left = f": what begins at {', '.join(map(str, self.left))} stays" if self.left else ""
            return f"tried{also}: still not finite{left}"
        shown = ", ".join(f"∂{name} = {_brief(g)}" for name, g in self.gradients[:SHOWN])
        rest = len(self.gradients) - SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        return f"tried{also}: gradient finite{', ' if shown else ''}{shown}{more}"


def _brief(value: Any) -> str:
    x = numeric(value)
    if x is None:
        return "?"
    if x.size == 1:
        return format_number(x.reshape(())[()])
    if x.ndim == 1 and x.size <= SHOWN:
        return f"[{', '.join(map(format_number, x))}]"
    return f"{'×'.join(map(str, x.shape))} up to {format_number(np.max(np.abs(x)))}"


class Trials:
    """What the cure of each origin that reaches a result gives, tried when somebody asks.

    Nothing of the user's is run, and nothing of a tape that is not `trusted`.
    """

    def __init__(self, tape: Tape, roots: Sequence[Root], *, trusted: bool = True) -> None:
        self.tape, self.trusted = tape, trusted
        self.alarms = {r.var: r for r in roots if r.through}
        self.masked = [r for r in roots if not r.through][:MOST_TRIED]
        self._found: dict[Var, Tried] = {}

    def __getitem__(self, var: Var) -> Tried:
        if var not in self._found:
            self._found[var] = self._try(self.alarms[var])
        return self._found[var]

    def get(self, var: Var) -> Tried | None:
        """Return what came of a cure, None of what is no alarm."""
        return self[var] if var in self.alarms else None

    @cached_property
    def patches(self) -> dict[Var, Patch]:
        """What replaces the ops of the first few origins, empty where nothing known does."""
        first = list(self.alarms.values())[:MOST_TRIED]
        return {r.var: p if keeps(self.tape, p := _patch(r)) else {} for r in first}

    def _try(self, root: Root) -> Tried:
        try:
            _refuse(self.tape, self.trusted)
            if root.var not in self.patches:
                raise NotTried(f"only the first {MOST_TRIED} are")
        except NotTried as reason:
            return Tried(False, reason=str(reason))
        return _try(self.tape, root, self.patches)

    @cached_property
    def naive(self) -> set[Var]:
        """The masked origins for which a tool that tracks no masks answers NaN or infinity."""
        if not self.trusted or self.tape.reverse_start is None or not without_masks(self.tape):
            return set()
        return {r.var for r in self.masked if without_masks(self.tape, _slopes_of(r))}


def _slopes_of(root: Root) -> set[Var]:
    """Return the ops that an origin's NaN passes in the reverse pass: its own, what it is made of.

    The masks on their slopes are what stops it.
    """
    tape = root.case.tape
    begun = {tape[v].origin.of or v for v in (root.var, *root.echoes)}
    begun.add(root.case.primal or root.var)
    return begun.union(*(ancestors(tape, v) for v in begun))


def _patch(root: Root) -> Patch:
    make = root.cause.patch
    patch = {} if make is None else make(root.case)
    if any(root.case.tape.is_reverse(v) for v in patch):
        return {}
    return patch


def _refuse(tape: Tape, trusted: bool) -> None:
    """Raise NotTried for a tape that cannot be derived anew."""
    if not trusted:
        raise NotTried("a saved session runs only what its file proves harmless")
    if tape.reverse_start is None:
        raise NotTried("the tape has no gradient")
    if len(tape) > LONGEST:
        raise NotTried(f"the tape has more than {LONGEST:,} ops")
    if len(tape.result_vars) != 1:
        raise NotTried("the function has several results")
    for var, op in tape:
        if tape.is_reverse(var) or not isinstance(op, Call):
            continue
        if op.origin.wrt is not None:
            raise NotTried("the tape holds a derivative of a derivative")
        if is_users(op):
            raise NotTried(f"it would run {op.name}, a function of yours")


def _try(tape: Tape, root: Root, patches: dict[Var, Patch]) -> Tried:
    """Try one cure, then as many others with it, in the order of the tape, as make it finite."""
    joined, others = dict(patches.get(root.var, {})), []
    if root.cause.wider:
        return _outcome(tape, {}, wide=True)
    if not joined:
        return Tried(False, reason="the function needs another form")
    until = time.monotonic() + SECONDS
    alone = outcome = _outcome(tape, joined)
    for var, patch in patches.items():
        if outcome.finite or outcome.reason or time.monotonic() > until:
            break
        if patch and var != root.var:
            joined = patch | joined
            others.append(var)
            outcome = _outcome(tape, joined)
    if outcome.finite:
        return replace(outcome, others=tuple(others))
    return replace(alone, left=tuple(v for v in patches if v != root.var))


def _outcome(tape: Tape, patch: Patch, *, wide: bool = False) -> Tried:
    try:
        new, names = derived(tape, patch, wide=wide)
    except Exception as error:  # what a replacement makes of this tape is not known before
        return Tried(False, reason=f"{type(error).__name__}: {error}")
    values = new.values or {}
    found = [hand_out(g, values) for g in new.gradients or ()]
    gradients = [(name, g) for name, g in zip(names, found, strict=True) if g is not None]
    finite = all(bad_mask(values[v]) is None for v in new.outputs if v in values)
    return Tried(finite, tuple(gradients), wide=wide)


def derived(tape: Tape, patch: Patch, *, wide: bool = False) -> tuple[Tape, list[str]]:
    """Return the tape of the same function with some ops replaced, and the names of its inputs.

    Inputs and constants are those of the tape, `wide` in float64.
    """
    values = tape.values or {}
    inputs = [v for v in tape.inputs if v != tape.seed and not tape.is_reverse(v)]
    missing = next((v for v in inputs if v not in values), None)
    if missing is not None:
        raise NotTried(f"{missing} has no value")
    widen = _widened if wide else _same

    def again(*leaves: Any) -> Any:
        return _run(tape, dict(zip(inputs, leaves, strict=True)), patch, widen)

    seed = values.get(tape.seed) if tape.seed is not None else None
    if not tape[tape.result_vars[0]].spec.shape and (seed is None or np.ndim(seed) == 0):
        seed = None
    with quiet():
        new = yota.gradtape(again, *(widen(values[v]) for v in inputs), seed=seed)
    return new, [op.name for op in map(tape.__getitem__, inputs) if isinstance(op, Input)]


def keeps(tape: Tape, patch: Patch) -> bool:
    """Tell whether a function with a replacement gives on harmless inputs what it gave without.

    So taken where the function itself gives nothing finite there.
    """
    rng = np.random.default_rng(0)
    values = tape.values or {}
    inputs = {v: _harmless(values[v], rng) for v in tape.inputs if v in values}
    try:
        with quiet():
            before = numeric(_run(tape, dict(inputs), {}, _same))
    except Exception:  # these inputs are none of the function's
        return True
    if before is None or not np.isfinite(before).all():
        return True
    try:
        with quiet():
            after = numeric(_run(tape, dict(inputs), patch, _same))
    except Exception:  # it does not fit where it was put
        return False
    return after is not None and after.shape == before.shape and np.allclose(after, before, NEAR)


def _harmless(value: Any, rng: np.random.Generator) -> Any:
    """Return numbers between 1/4 and 3/4 in the place of floating ones."""
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc":
        return value
    made = np.asarray(rng.uniform(0.25, 0.75, x.shape), x.dtype)
    return made if isinstance(value, np.ndarray) else type(value)(made[()])


def _same(value: Any) -> Any:
    return value


def _widened(value: Any) -> Any:
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc":
        return value
    return x.astype(np.result_type(x.dtype, np.float64))


def _run(tape: Tape, values: dict[Var, Any], patch: Patch, widen: Callable[[Any], Any]) -> Any:
    for var, op in tape:
        if tape.is_reverse(var):
            break
        match op:
            case Input():
                made = values[var]
            case Constant():
                made = widen(op.value)
            case Call():
                made = _call(op, values, patch.get(var))
        cured = None if isinstance(op, Call) else patch.get(var)
        values[var] = cured(made) if callable(cured) else made
    return values[tape.result_vars[0]]


def _call(op: Call, values: dict[Var, Any], cured: Callable[..., Any] | Ask | None) -> Any:
    if isinstance(cured, Ask):
        return cured.fn(*map_vars(cured.wanted, values.__getitem__))
    args = map_vars(op.args, values.__getitem__)
    kwargs = {k: map_vars(v, values.__getitem__) for k, v in op.kwargs}
    return (cured or op.fn)(*args, **kwargs)


def without_masks(tape: Tape, of: Collection[Var] | None = None) -> bool:
    """Tell whether a gradient is NaN or infinite where what masks left out counts as 0 times it.

    This is what a tool answers that tracks no masks; `of` are the ops whose masks are taken away.
    """
    values = dict(tape.values or {})
    with quiet():
        for var, op in tape:
            if not tape.is_reverse(var) or not isinstance(op, Call) or is_users(op):
                continue
            if any(v not in values for v in op.operands):
                return False
            if _leaves_out(tape, op) and (of is None or op.origin.of in of):
                values[var] = values[op.args[1]]
                continue
            try:
                values[var] = op.fn(
                    *map_vars(op.args, values.__getitem__),
                    **{k: map_vars(v, values.__getitem__) for k, v in op.kwargs},
                )
            except Exception:  # then nothing can be said
                return False
    return any(bad_mask(values[v]) is not None for v in tape.gradient_vars if v in values)


def _leaves_out(tape: Tape, op: Call) -> bool:
    """Tell whether an op is the mask that the reverse pass puts on a slope."""
    of = op.origin.of
    source = tape[of] if of is not None and of in tape else None
    return (
        op.fn is np.where
        and op.origin.role == "rule"
        and isinstance(op.args[1], Var)
        and op.args[2] == 0.0
        and type(op.args[2]) is float
        and isinstance(source, Call)
        and source.fn is not np.where
    )
