"""Two calls op by op: which ops are the same, which values moved apart, and from where on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from yota.tape import Call, Constant, Input, Op, Tape, Var, format_arg
from yotaview.model.align import Pairs, align, in_order, operands_of
from yotaview.model.replay import quiet
from yotaview.model.same import Distance, distance, same_bits
from yotaview.model.session import Session
from yotaview.model.summary import norm_of, numeric, plain_number

LARGE = 1e-6
Kind = Literal["same", "changed", "moved", "deleted", "inserted"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two calls, and what it is called."""

    session: Session
    title: str

    @property
    def tape(self) -> Tape:
        """The tape of the call, with its values."""
        return self.session.tape

    def text_of(self, op: Op) -> str:
        """Return the source line of an op without its indentation, else its place."""
        if not op.origin.frames:
            return op.origin.note
        found = self.session.source_line(op.origin.frames[0])
        return op.origin.place if found is None else found.strip()


@dataclass(frozen=True, slots=True)
class Delta:
    """How far two values of an op are apart; `relative` is to the largest magnitude in either."""

    worst: Distance
    relative: float

    @property
    def equal(self) -> bool:
        """Tell whether the values are the same."""
        return self.worst.ulp == 0


EQUAL = Delta(Distance(0.0), 0.0)


@dataclass(frozen=True, slots=True)
class Change:
    """An op on one side, or one on both, with what differs of it."""

    kind: Kind
    left: Var | None
    right: Var | None
    what: tuple[str, ...] = ()
    delta: Delta | None = None

    @property
    def differs(self) -> bool:
        """Tell whether structure or value is not the same."""
        return self.kind != "same" or (self.delta is not None and not self.delta.equal)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The gradient of an input on both sides: norms, and the norm of the difference to the left."""

    name: str
    left: float
    right: float
    relative: float | None


@dataclass(frozen=True)
class Diff:
    """All ops of two calls in one order; what is only on the left stands before what is new."""

    left: Side
    right: Side
    changes: tuple[Change, ...]
    ratios: tuple[Ratio, ...] = ()
    history: tuple[str, ...] = ()
    alike: bool = True

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many ops are changed, moved, deleted and inserted."""
        names = ("changed", "moved", "deleted", "inserted")
        return {n: sum(c.kind == n for c in self.changes) for n in names}

    @property
    def same_structure(self) -> bool:
        """Tell whether every op has its counterpart, in the same order and unchanged."""
        return not any(self.counts.values())

    @property
    def equal(self) -> bool:
        """Tell whether nothing differs, to the last bit, in what is compared and in the history."""
        return self.alike and not any(c.differs for c in self.changes)

    @cached_property
    def first(self) -> Change | None:
        """The first pair whose values differ."""
        return next((c for c in self.apart if c.delta is not None and not c.delta.equal), None)

    @cached_property
    def first_large(self) -> Change | None:
        """The first pair whose values differ by more than rounding."""
        return next((c for c in self.apart if c.delta and not c.delta.relative <= LARGE), None)

    @property
    def apart(self) -> Iterator[Change]:
        """The pairs whose values were compared, in the order of the left tape."""
        return (c for c in self.changes if c.delta is not None)

    @property
    def growth(self) -> list[float]:
        """By how many ulp the values of each pair differ, along the tape."""
        return [c.delta.worst.ulp for c in self.apart if c.delta is not None]


def compare(
    left: Session,
    right: Session,
    history: Sequence[str] = (),
    files: tuple[str, str] = ("", ""),
    alike: bool = True,
    tick: Callable[[float], None] = lambda done: None,
) -> Diff:
    """Align two open calls by structure and compare the values of what is the same op.

    `history` tells of all calls, which are `alike` or not; `files` are the sessions' own names;
    `tick` is told the share that is done, and what it raises ends the work.
    """
    sides = (
        Side(left.still(), title_of(left, right, files[0])),
        Side(right.still(), title_of(right, left, files[1])),
    )
    texts = sides[0].text_of, sides[1].text_of
    pairs = align(left.tape, right.tape, *texts, lambda done: tick(0.6 * done))
    changes = []
    with quiet():
        for change in _changes(*sides, pairs):
            changes.append(change)
            tick(0.6 + 0.4 * min(len(changes) / len(left.tape), 1.0))
        ratios = tuple(_ratios(*sides))
    return Diff(*sides, tuple(changes), ratios, tuple(history), alike)


def title_of(session: Session, other: Session, file: str = "") -> str:
    """Return script, tape and call; the arguments too where they tell the two apart."""
    capture, row = session.capture, session.row
    call = f", call {session.call.number} of {row.count}" if session.call is not None else ""
    mine, theirs = capture.argv[1:], other.capture.argv[1:]
    arguments = f" {' '.join(mine)}" if mine != theirs else ""
    script = capture.name
    if script == other.capture.name and capture.script != other.capture.script and not file:
        script = capture.script
    told = f"{script}{arguments} › tape {session.row_index + 1} {row.name}{call}"
    return f"{file}: {told}" if file else told


def _changes(left: Side, right: Side, pairs: Pairs) -> Iterator[Change]:
    anchors = in_order(list(pairs.items()))
    back = {b: a for a, b in pairs.items()}
    ours, theirs = iter(left.tape.ops), iter(right.tape.ops)
    for anchor in (*anchors, None):
        for a in ours:
            if a == anchor:
                break
            yield _one(left, right, a, pairs.get(a), "moved" if a in pairs else "deleted", pairs)
        for b in theirs:
            if anchor is not None and b == pairs[anchor]:
                yield _one(left, right, anchor, b, "same", pairs)
                break
            if b not in back:
                yield Change("inserted", None, b)


def _one(
    left: Side, right: Side, a: Var, b: Var | None, kind: Kind, pairs: Mapping[Var, Var]
) -> Change:
    if b is None:
        return Change(kind, a, None)
    what = tuple(what_changed(left.tape[a], right.tape[b], pairs))
    if what and kind == "same":
        kind = "changed"
    return Change(kind, a, b, what, _delta(left.session, right.session, a, b))


def what_changed(a: Op, b: Op, pairs: Mapping[Var, Var]) -> Iterator[str]:
    """Yield what is not the same of two paired ops: name, function, operands, type."""
    if isinstance(a, Call) and isinstance(b, Call):
        if a.name != b.name:
            yield f"{a.name} → {b.name}"
        elif (mine := _operands(a, pairs)) != (theirs := _operands(b, None)):
            yield f"{mine} → {theirs}"
    elif isinstance(a, Input | Constant) and isinstance(b, Input | Constant) and a.name != b.name:
        yield f"{a.name or 'unnamed'} → {b.name or 'unnamed'}"
    if a.spec.text() != b.spec.text():
        yield f"{a.spec.text(short=True)} → {b.spec.text(short=True)}"


def _operands(op: Call, pairs: Mapping[Var, Var] | None) -> str:
    """Return the operands in the numbers of the right side."""
    number = {v: v if pairs is None else pairs.get(v, f"only left {v}") for v in operands_of(op)}
    parts = [_numbered(a, number) for a in op.args]
    parts += [f"{k}={_numbered(v, number)}" for k, v in op.kwargs]
    return f"({', '.join(parts)})"


def _numbered(tree: Any, number: Mapping[Var, Any]) -> str:
    if isinstance(tree, Var):
        return str(number[tree])
    if isinstance(tree, tuple | list) and any(isinstance(t, Var) for t in tree):
        return f"({', '.join(_numbered(t, number) for t in tree)})"
    return format_arg(tree)


def _delta(left: Session, right: Session, a: Var, b: Var) -> Delta | None:
    """Return how far two values are apart, None where one is not known or is no number."""
    x, y = left.opened.values.get(a), right.opened.values.get(b)
    if not (_comparable(x) and _comparable(y)):
        return None
    if same_bits(x, y):
        return EQUAL
    worst = distance(_plain(x), _plain(y))
    return Delta(worst, 0.0 if worst.ulp == 0 else _relative(x, y))


def _comparable(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_comparable, value))
    return numeric(value) is not None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return plain_number(value)


def _relative(x: Any, y: Any) -> float:
    if isinstance(x, tuple | list) and isinstance(y, tuple | list):
        return max(map(_relative, x, y), default=0.0) if len(x) == len(y) else np.inf
    a, b = numeric(x), numeric(y)
    if a is None or b is None or a.shape != b.shape:
        return np.inf
    differ = ~((a == b) | ((a != a) & (b != b)))
    if not differ.any():
        return 0.0
    wide = complex if "c" in (a.dtype.kind, b.dtype.kind) else float
    off = np.abs(a.astype(wide) - b.astype(wide))[differ].max()
    size = max(np.abs(v[np.isfinite(v)].astype(wide)).max(initial=0.0) for v in (a, b))
    return float(off / size) if np.isfinite(off) and size else np.inf


def _ratios(left: Side, right: Side) -> Iterator[Ratio]:
    """Yield the gradients by the names of the inputs, in the order of the left side."""
    ours, theirs = _gradients(left.session), _gradients(right.session)
    for name, x in ours.items():
        y = theirs.get(name)
        if y is None:
            continue
        yield Ratio(name, norm_of(x), norm_of(y), _apart(x, y))


def _apart(x: Any, y: Any) -> float | None:
    """Return the norm of the difference to that of `x`, None where the shapes differ."""
    if x.shape != y.shape:
        return None
    if same_bits(x, y):
        return 0.0
    near, size = norm_of(x - y), norm_of(x)
    return near / size if size else np.inf if near else 0.0


def _gradients(session: Session) -> dict[str, Any]:
    found = {}
    for var in session.tape.inputs:
        op, done = session.tape[var], session.tape.cotangents.get(var)
        value = numeric(session.opened.values.get(done)) if done is not None else None
        if isinstance(op, Input) and value is not None:
            found[op.name] = value.astype(complex if value.dtype.kind == "c" else float)
    return found
