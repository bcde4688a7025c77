"""Which ops of two tapes are the same: found by what they compute, never by their numbers.

An op is known by its ancestry (what it computes from the inputs) and by its descent (what becomes
of it up to the results).  Ops that agree in one of the two are pairs, which leaves those that lie
between two edits: they are pairs where function and source line agree, in order.  An op whose
operands and readers are all paired, and which stands alone in their midst on both sides, was
changed in place.  Ops of the reverse pass are pairs where what they differentiate is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Op, Origin, Tape, Var, vars_in
from yotaview.capture.functions import name_of
from yotaview.model.sequences import matched_in_order

Pairs = dict[Var, Var]
Key = Hashable
TextOf = Callable[[Op], str]


class Half:
    """One of the two tapes, with the keys of its ops; `known` gives equal keys equal numbers."""

    def __init__(self, tape: Tape, text_of: TextOf, known: dict[Key, int]) -> None:
        self.tape, self.known = tape, known
        self.users = tape.users()
        self.texts = {v: text_of(op) for v, op in tape}
        self.own = [{v: self.number((k, key(op))) for v, op in tape} for k, key in enumerate(KEYS)]
        self.forward = [v for v in tape.ops if not tape.is_reverse(v)]
        self.reverse = [v for v in tape.ops if tape.is_reverse(v)]
        self.handed = {v: k for k, v in enumerate((*tape.result_vars, *tape.gradient_vars))}

    def number(self, key: Key) -> int:
        """Return the number of a key, on both halves the same."""
        return self.known.setdefault(key, len(self.known))

    def ancestry(self, own: Mapping[Var, int]) -> dict[Var, int]:
        """Return for each forward op the number of what it computes from the inputs."""
        found: dict[Var, int] = {}
        for var in self.forward:
            operands = tuple(found[v] for v in operands_of(self.tape[var]))
            found[var] = self.number(("up", own[var], operands))
        return found

    def descent(self, own: Mapping[Var, int]) -> dict[Var, int]:
        """Return for each forward op the number of what becomes of it."""
        found: dict[Var, int] = {}
        for var in reversed(self.forward):
            uses = sorted(
                (found[user], place)
                for user in self.users[var]
                if user in found
                for place, v in enumerate(operands_of(self.tape[user]))
                if v == var
            )
            found[var] = self.number(("down", own[var], tuple(uses), self.handed.get(var)))
        return found


def operands_of(op: Op) -> list[Var]:
    """Return the vars that an op reads."""
    return op.operands if isinstance(op, Call) else []


def _key(op: Op, *, shapes: bool, floats: bool) -> Key:
    """Return what an op is by itself, with or without types and sizes, and floating literals."""
    spec = (op.spec.kind, op.spec.dtype, op.spec.shape) if shapes else None
    match op:
        case Input():
            return "inp", op.name
        case Constant():
            content = _content(op.value) if floats else None
            return ("const", op.name or spec, op.origin.role, content)
        case Call():
            fn = name_of(op.fn) or f"{getattr(op.fn, '__module__', '')}.{op.name}"
            return fn, _form((op.args, op.kwargs), shapes, floats), spec
    return ("other", type(op).__name__)


def _content(value: Any) -> Key:
    """Return what tells the contents of constants apart."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return hash(value.tobytes())
    return repr(value) if type(value) in (bool, float, complex) else None


KEYS: tuple[Callable[[Op], Key], ...] = (
    partial(_key, shapes=True, floats=True),
    partial(_key, shapes=True, floats=False),
    partial(_key, shapes=False, floats=False),
)


def _form(tree: Any, shapes: bool, floats: bool) -> Key:
    """Return an operand with holes for vars, and for the literals that do not count."""
    kind = type(tree)
    if kind is Var:
        return "%"
    if kind is tuple or kind is list:
        # a shape has as many numbers as the array has axes
        inner = (_form(t, shapes, floats) for t in tree)
        return (kind.__name__, *inner) if shapes or any(vars_in(tree)) else kind.__name__
    if kind is dict:
        return tuple((str(k), _form(t, shapes, floats)) for k, t in tree.items())
    if kind is slice:
        return ("slice", *(_form(t, shapes, floats) for t in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, float | complex | np.inexact):
        return (kind.__name__, repr(tree)) if floats else "~"
    if not shapes or not isinstance(tree, int | str | bytes | None):
        return kind.__name__
    return kind.__name__, tree


def align(
    left: Tape,
    right: Tape,
    left_text: TextOf,
    right_text: TextOf,
    tick: Callable[[float], None] = lambda done: None,
) -> Pairs:
    """Return which op of `right` each op of `left` is; ops without a counterpart are left out.

    `tick` is told the share that is done; what it raises ends the work.
    """
    known: dict[Key, int] = {}
    halves = []
    for tape, text in ((left, left_text), (right, right_text)):
        halves.append(Half(tape, text, known))
        tick(len(halves) / 4)
    both = _Both(*halves)
    for k in range(len(KEYS)):
        both.pair_by(*(h.ancestry(h.own[k]) for h in both.halves))
        both.pair_operands(k)
        both.pair_by(*(h.descent(h.own[k]) for h in both.halves))
        tick(0.5 + 0.1 * (k + 1))
    both.pair_between()
    both.pair_alone(both.left.forward)
    tick(0.9)
    both.pair_reverse()
    both.pair_alone(both.left.reverse)
    tick(1.0)
    return dict(sorted(both.pairs.items()))


class _Both:
    """The two halves, and the pairs found so far."""

    def __init__(self, left: Half, right: Half) -> None:
        self.left, self.right = self.halves = (left, right)
        self.pairs: Pairs = {}
        self.back: Pairs = {}

    def take(self, a: Var, b: Var) -> None:
        """Make two ops a pair."""
        self.pairs[a], self.back[b] = b, a

    def free(self, vars_: Iterable[Var], right: bool = False) -> list[Var]:
        """Return those that have no counterpart yet."""
        taken = self.back if right else self.pairs
        return [v for v in vars_ if v not in taken]

    def pair_by(self, left: Mapping[Var, Key], right: Mapping[Var, Key]) -> None:
        """Pair what has the same key, where it stands equally often on both sides."""
        ours, theirs = _by_key(self.free(left), left), _by_key(self.free(right, True), right)
        for key, vars_ in ours.items():
            if len(vars_) == len(theirs.get(key, ())):
                for a, b in zip(vars_, theirs[key], strict=True):
                    self.take(a, b)

    def pair_operands(self, level: int) -> None:
        """Pair what pairs read in the same place, where it is the same by itself."""
        ours, theirs = self.left.own[level], self.right.own[level]
        for a in reversed(self.left.forward):
            if a not in self.pairs:
                continue
            x, y = operands_of(self.left.tape[a]), operands_of(self.right.tape[self.pairs[a]])
            for v, w in zip(x, y, strict=False):
                if v not in self.pairs and w not in self.back and ours[v] == theirs[w]:
                    self.take(v, w)

    def pair_between(self) -> None:
        """Pair, in order, what lies between two pairs and has the same function and source line."""
        for ours, theirs in self.gaps():
            for key in (self.whole_key, self.line_key, self.near_key):
                a, b = self.free(ours), self.free(theirs, True)
                first, second = [key(self.left, v) for v in a], [key(self.right, v) for v in b]
                for i, k in matched_in_order(first, second):
                    if key != self.near_key or self.agree(a[i], b[k]):
                        self.take(a[i], b[k])

    def whole_key(self, half: Half, var: Var) -> Key:
        """Return what an op is, with its line."""
        return half.own[1][var], half.texts[var]

    def line_key(self, half: Half, var: Var) -> Key:
        """Return the function of an op and its line."""
        return half.own[2][var], half.texts[var]

    def near_key(self, half: Half, var: Var) -> Key:
        """Return the function of an op, whatever its line."""
        return half.own[2][var]

    def agree(self, a: Var, b: Var) -> bool:
        """Tell whether the operands of two ops are pairs, each with the other."""
        ours, theirs = operands_of(self.left.tape[a]), operands_of(self.right.tape[b])
        return len(ours) == len(theirs) and all(
            self.pairs.get(x) == y for x, y in zip(ours, theirs, strict=True)
        )

    def gaps(self) -> Iterator[tuple[list[Var], list[Var]]]:
        """Yield what lies between two forward pairs that follow each other on both sides."""
        places = {v: k for k, v in enumerate(self.right.forward)}
        kept = in_order([(a, b) for a, b in sorted(self.pairs.items()) if b in places])
        ends = [(v, self.pairs[v]) for v in kept]
        start_a = start_b = 0
        index = {v: k for k, v in enumerate(self.left.forward)}
        stops = [*((index[a], places[b]) for a, b in ends), (len(index), len(places))]
        for stop_a, stop_b in stops:
            ours = self.free(self.left.forward[start_a:stop_a])
            theirs = self.free(self.right.forward[start_b:stop_b], True)
            if ours and theirs:
                yield ours, theirs
            start_a, start_b = stop_a + 1, stop_b + 1

    def pair_alone(self, vars_: Sequence[Var]) -> None:
        """Pair ops that stand in the same place, with the same operands and readers."""
        places: dict[Key, list[Var]] = defaultdict(list)
        for b in self.free(self.right.tape.ops, True):
            places[self.place(self.right, b)].append(b)
        mine: dict[Key, list[Var]] = defaultdict(list)
        for a in self.free(vars_):
            mine[self.place(self.left, a)].append(a)
        for key, found in mine.items():
            if key is not None and len(found) == 1 == len(places.get(key, ())):
                self.take(found[0], places[key][0])

    def number_of(self, half: Half) -> Callable[[Var], Var | None]:
        """Return what gives an op's number on `right`, None where it has no counterpart."""
        if half is self.left:
            return self.pairs.get
        return lambda v: v if v in self.back else None

    def place(self, half: Half, var: Var) -> Key:
        """Return where a call stands, in numbers of `right`; None where that is not known."""
        op, reverse = half.tape[var], half.tape.is_reverse(var)
        operands = operands_of(op)
        users = [u for u in half.users[var] if half.tape.is_reverse(u) is reverse]
        number = self.number_of(half)
        ends = [[number(v) for v in vars_] for vars_ in (operands, users)]
        handed = half.handed.get(var)
        if None in (*ends[0], *ends[1]) or not (users or handed is not None):
            return None
        return type(op).__name__, reverse, tuple(ends[0]), frozenset(ends[1]), handed

    def pair_reverse(self) -> None:
        """Pair, in order, the reverse ops of which the differentiated ops are pairs.

        The operand is the same one, or another one in the same place of a changed op.
        """
        for group in (self.by_operand, self.by_place):
            ours, theirs = (self.groups(h, group) for h in self.halves)
            for key, a in ours.items():
                for level in (1, 2):
                    a, b = self.free(a), self.free(theirs.get(key, []), True)
                    first = [self.reverse_key(self.left, v, level) for v in a]
                    second = [self.reverse_key(self.right, v, level) for v in b]
                    for i, k in matched_in_order(first, second):
                        self.take(a[i], b[k])

    def groups(self, half: Half, group: Callable[[Half, Var], Key]) -> dict[Key, list[Var]]:
        """Return the reverse ops without counterpart by what they differentiate."""
        return _by_key(
            (free := self.free(half.reverse, half is self.right)), {v: group(half, v) for v in free}
        )

    def reverse_key(self, half: Half, var: Var, level: int) -> Key:
        """Return what a reverse op is, and what of its operands is paired."""
        number = self.number_of(half)
        return half.own[level][var], tuple(map(number, operands_of(half.tape[var])))

    def by_operand(self, half: Half, var: Var) -> Key:
        """Return what a reverse op differentiates, in numbers of `right`."""
        origin, number = half.tape[var].origin, self.number_of(half)
        ends = (v if v is None else number(v) or (half is self.left, v) for v in of_and_wrt(origin))
        return (*ends, origin.role)

    def by_place(self, half: Half, var: Var) -> Key:
        """Return the same by the place of the operand in the op that is differentiated."""
        of, wrt = of_and_wrt(half.tape[var].origin)
        if of is None or of not in half.tape or wrt not in operands_of(half.tape[of]):
            return self.by_operand(half, var)
        place = operands_of(half.tape[of]).index(wrt)
        return (
            self.number_of(half)(of) or (half is self.left, of),
            place,
            half.tape[var].origin.role,
        )


def of_and_wrt(origin: Origin) -> tuple[Var | None, Var | None]:
    """Return the op that is differentiated, and by which operand."""
    return origin.of, origin.wrt


def _by_key(vars_: Iterable[Var], keys: Mapping[Var, Key]) -> dict[Key, list[Var]]:
    found: dict[Key, list[Var]] = defaultdict(list)
    for v in vars_:
        found[keys[v]].append(v)
    return found


def in_order(pairs: Sequence[tuple[Var, Var]]) -> list[Var]:
    """Return the left ops of the longest run of pairs that stand in the same order on both sides.

    Patience sorting; `pairs` are in the order of the left side.
    """
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for k, (_, b) in enumerate(pairs):
        at = bisect_left(tails, b.id)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(b.id)
            ends.append(k)
        else:
            tails[at], ends[at] = b.id, k
    found, k = [], ends[-1] if ends else -1
    while k >= 0:
        found.append(pairs[k][0])
        k = before[k]
    return found[::-1]
