"""The forward ops of a tape as a tree: statements, loops by iteration, calls, ops; never rebuilt.

A node is a run of forward ops with all reverse ops that they cause.  Children are made when they
are asked for, so a tape of any length opens at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from yota.tape import Call, Frame, Op, Tape, Var
from yotaview.model.repeats import find_repeats
from yotaview.model.statements import Statements

Kind = Literal["root", "statement", "loop", "iteration", "section", "op"]
By = Literal["line", "function", "op"]
Key = tuple[str, int, int]
WAYS: tuple[By, ...] = ("line", "function", "op")
MOST = 40


@dataclass(slots=True, eq=False)
class Node:
    """Forward ops `start` up to `end` as one box; `begins` are the iterations of a loop."""

    kind: Kind
    start: int
    end: int
    label: str = ""
    place: str = ""
    depth: int = 0
    parent: Node | None = None
    begins: tuple[int, ...] = ()
    number: int = 0
    parts: list[Node] = field(default_factory=list)
    children: list[Node] | None = None

    @property
    def size(self) -> int:
        """How many forward ops it holds."""
        return self.end - self.start

    @property
    def key(self) -> Key:
        """What tells a node from others of its tape, and of any call with the same structure."""
        return self.kind, self.start, self.end

    @property
    def count(self) -> int:
        """How often a loop runs, 1 for everything else."""
        return max(len(self.begins), 1)


class Outline:
    """The tree over a tape: by source line, by function called, or every op by itself."""

    def __init__(self, tape: Tape, sources: Mapping[str, tuple[str, ...]], by: By = "line") -> None:
        self.tape, self.by = tape, by
        self.statements = Statements(sources)
        self.calls = [v for v, op in tape if isinstance(op, Call) and not tape.is_reverse(v)]
        self.of = {v: k for k, v in enumerate(self.calls)}
        self._cause_reverse()
        self.paths = _Paths(tape, self.calls, self.statements, by)
        self.root = Node("root", 0, len(self.calls))

    def _cause_reverse(self) -> None:
        """Find for each reverse op the forward op that it stands under."""
        tape, last = self.tape, max(len(self.calls) - 1, 0)
        self._under: list[list[Var]] = [[] for _ in self.calls]
        for var, op in tape if self.calls else ():
            if tape.is_reverse(var):
                self.of[var] = k = _cause(op, self.of, last)
                self._under[k].append(var)

    @cached_property
    def caused(self) -> list[int]:
        """How many reverse ops each forward op causes."""
        return list(map(len, self._under))

    def forward(self, node: Node) -> list[Var]:
        """Return the forward ops of a node."""
        return self.calls[node.start : node.end]

    def reverse(self, node: Node) -> list[Var]:
        """Return the reverse ops that a node's forward ops cause, in the order of time."""
        return sorted(v for k in range(node.start, node.end) for v in self._under[k])

    def cotangent(self, node: Node) -> Var | None:
        """Return the op that completes the cotangent of a node's last value that has one."""
        found = (self.tape.cotangents.get(v) for v in reversed(self.forward(node)))
        return next((c for c in found if c is not None and c in self.tape), None)

    def roots(self) -> list[Node]:
        """Return the boxes that a tape opens with."""
        return self.children(self.root)

    def children(self, node: Node) -> list[Node]:
        """Return the parts of a node in the order of time; none of an op."""
        if node.children is None:
            found = self._parts(node)
            node.children = found if self.by == "op" else _in_sections(node, found)
            for child in node.children:
                child.parent = node
        return node.children

    def _parts(self, node: Node) -> list[Node]:
        if node.kind == "op":
            return []
        if node.kind == "section":
            return node.parts
        if node.kind == "loop":
            return self._iterations(node)
        if self.by == "op" or self._is_plain(node):
            return [self._op(k) for k in range(node.start, node.end)]
        if node.kind == "statement" and not self.paths.goes_deeper(node):
            return self._folded(node, self._fits_inside, lambda a, b: map(self._op, range(a, b)))
        depth = self._depth_inside(node)
        found = self._folded(node, self.paths.fits(depth), lambda a, b: self._runs(a, b, depth))
        alone = len(found) == 1 and node.kind == found[0].kind == "statement"
        return self._parts(found[0]) if alone else found

    def _is_plain(self, node: Node) -> bool:
        """Tell whether an iteration is of one statement, whose ops it then shows."""
        if node.kind != "iteration":
            return False
        key, depth = self.paths.statement, node.depth
        inside = range(node.start, node.end)
        same = all(key(k, depth) == key(node.start, depth) for k in inside)
        return same and not self.paths.goes_deeper(node)

    def _folded(
        self,
        node: Node,
        fits: Callable[[int, int, int], bool],
        plain: Callable[[int, int], Iterator[Node]],
    ) -> list[Node]:
        """Return loops, and what `plain` makes of what lies between them."""
        shift, keys = node.start, self.paths.keys[node.start : node.end]
        repeats = find_repeats(
            keys,
            lambda a, b, p: (
                b - a < len(keys) + (node.kind != "iteration") and fits(a + shift, b + shift, p)
            ),
            lambda k: self.paths.rank(k + shift),
        )
        found: list[Node] = []
        at = node.start
        for repeat in repeats:
            begins = tuple(b + shift for b in repeat.begins)
            found += plain(at, begins[0])
            at = repeat.end + shift
            found.append(self._loop(begins, at, node))
        return [*found, *plain(at, node.end)]

    def _depth_inside(self, node: Node) -> int:
        deeper = node.kind == "statement" and self.paths.goes_deeper(node)
        return node.depth + deeper

    def _fits_inside(self, start: int, end: int, period: int) -> bool:
        return end - start > 3 and (period > 1 or self.paths.may_repeat(start))

    def _runs(self, start: int, end: int, depth: int) -> Iterator[Node]:
        """Yield each run of ops of one statement."""
        key = self.paths.statement
        while start < end:
            stop = start + 1
            while stop < end and key(stop, depth) == key(start, depth):
                stop += 1
            yield Node("statement", start, stop, *self._told(start, depth), depth)
            start = stop

    def _told(self, k: int, depth: int) -> tuple[str, str]:
        """Return the text of the statement of an op, and its line."""
        frame, name = self.paths.frame(k, depth), getattr(self.tape[self.calls[k]], "name", "")
        if frame is None:
            return name, ""
        found = self.statements.at(frame)
        return found.text if found is not None else name, f"line {self.paths.line(frame)}"

    def _loop(self, begins: tuple[int, ...], end: int, node: Node) -> Node:
        depth, (first, second) = self._depth_inside(node), begins[:2]
        label, place = self._told(first, depth)
        own = self.paths.statement
        frames = [self.paths.frame(k, depth) for k in range(first, second)]
        lines = {f.line for f in frames if f is not None}
        if not lines or (node.kind == "statement" and not self.paths.goes_deeper(node)):
            label = " ".join(self._op(k).label for k in range(first, second))
        elif any(own(k, depth) != own(first, depth) for k in range(first, second)):
            head = frames[0]
            loop = self.statements.loop(head, max(lines)) if head is not None else ""
            label, place = loop or f"{label} …", f"lines {min(lines)}–{max(lines)}"
        return Node("loop", first, end, label, place, depth, begins=begins)

    def _iterations(self, node: Node) -> list[Node]:
        ends = (*node.begins[1:], node.end)
        single = all(b - a == 1 for a, b in zip(node.begins, ends, strict=True))
        return [
            self._op(a)
            if single
            else Node("iteration", a, b, node.label, node.place, node.depth, number=k)
            for k, (a, b) in enumerate(zip(node.begins, ends, strict=True), 1)
        ]

    def _op(self, k: int) -> Node:
        var = self.calls[k]
        name, op = self.name(var), self.tape[var]
        call = getattr(op, "name", "")
        place = self._told(k, len(self.paths.path(k)))[1] if op.origin.frames else ""
        return Node("op", k, k + 1, f"{name} = {call}" if name else call, place)

    def name(self, var: Var) -> str:
        """Return the local variable that a forward op's value is assigned to, '' if none."""
        k = self.of.get(var, -1)
        if self.tape.is_reverse(var) or not 0 <= k < len(self.calls):
            return ""
        frames = self.paths.frames[k]
        after = self.paths.frames[k + 1] if k + 1 < len(self.calls) else ()
        for outer, frame in enumerate(frames[: len(frames) - self.paths.outside]):
            goes_on = outer and after[-(len(frames) - outer) :] == frames[outer:]
            if not goes_on and (found := self.statements.name(frame)):
                return found
        return ""


class _Paths:
    """Where each forward op stands: its frames from the function differentiated inwards."""

    def __init__(self, tape: Tape, calls: Sequence[Var], statements: Statements, by: By) -> None:
        self.statements, self.by = statements, by
        self.frames = [tape[v].origin.frames for v in calls]
        self.outside = _common_end(self.frames)
        numbers: dict[object, int] = {}
        known: dict[int, int] = {}

        def number(frame: Frame) -> int:
            if id(frame) not in known:
                known[id(frame)] = numbers.setdefault(frame, len(numbers))
            return known[id(frame)]

        parts = 1 if by == "line" else None
        keys: dict[object, int] = {}
        self.keys = [
            keys.setdefault((getattr(tape[v], "name", ""), *map(number, f[:parts])), len(keys))
            for v, f in zip(calls, self.frames, strict=True)
        ]
        self._statement: dict[int, tuple[str, int]] = {}

    def path(self, k: int) -> tuple[Frame, ...]:
        """Return the frames of an op from outside to inside."""
        frames = self.frames[k]
        return frames[: len(frames) - self.outside][::-1]

    def frame(self, k: int, depth: int) -> Frame | None:
        """Return the frame by which an op is told apart: the innermost, or that at a depth."""
        frames = self.frames[k]
        if not frames:
            return None
        if self.by == "line":
            return frames[0]
        return frames[max(len(frames) - 1 - self.outside - depth, 0)]

    def statement(self, k: int, depth: int) -> tuple[str, int] | None:
        """Return file and first line of the statement of an op."""
        frame = self.frame(k, depth)
        if frame is None:
            return None
        if id(frame) not in self._statement:
            self._statement[id(frame)] = (frame.file, self.statements.first_line(frame))
        return self._statement[id(frame)]

    def line(self, frame: Frame) -> int:
        """Return the first line of the statement of a frame."""
        return self.statements.first_line(frame)

    def rank(self, k: int) -> tuple[int, ...]:
        """Return the lines of an op from outside to inside: a loop begins with its first line.

        What a line calls runs before the line's own ops.
        """
        return (*(f.line for f in self.path(k)), sys.maxsize)

    def goes_deeper(self, node: Node) -> bool:
        """Tell whether ops of a node stand in a function called from its statement."""
        if self.by == "line":
            return False
        inside = self.outside + node.depth + 1
        return any(len(self.frames[k]) > inside for k in range(node.start, node.end))

    def may_repeat(self, k: int) -> bool:
        """Tell whether an op may stand in a loop, as far as the source is known."""
        frames = self.path(k)
        return not frames or any(map(self.statements.repeats, frames))

    def fits(self, depth: int) -> Callable[[int, int, int], bool]:
        """Return a test of repeats: a loop does not begin or end amidst a statement."""

        def test(start: int, end: int, period: int) -> bool:
            if period == 1 and not self.may_repeat(start):
                return False
            body = set(self.keys[start : start + period])
            sides = ((start - 1, start, -1), (end, end - 1, 1))
            return not any(self._amidst(k, inner, step, depth, body) for k, inner, step in sides)

        return test

    def _amidst(self, k: int, inner: int, step: int, depth: int, body: set[int]) -> bool:
        """Tell whether the statement at an end of a repeat goes on with ops of other kinds."""
        own = self.statement(inner, depth)
        while 0 <= k < len(self.keys) and self.statement(k, depth) == own:
            if self.keys[k] not in body:
                return True
            k += step
        return False


def _common_end(frames: Sequence[tuple[Frame, ...]]) -> int:
    """Count the outer frames that all ops share; each keeps one of its own."""
    if not frames:
        return 0
    common = min(map(len, frames)) - 1
    for own in set(frames) if len(frames) < 1000 else frames:
        while common > 0 and own[-common:] != frames[0][-common:]:
            common -= 1
    return max(common, 0)


def _cause(op: Op, of: Mapping[Var, int], last: int) -> int:
    """Return the forward op that a reverse op stands under."""
    origin = op.origin
    if origin.of is not None and origin.of in of:
        return of[origin.of]
    if origin.wrt is not None and origin.wrt in of:
        return of[origin.wrt]
    if origin.role == "seed":
        return last
    found = [of[v] for v in op.operands if v in of] if isinstance(op, Call) else []
    return min(found, default=0)


def _in_sections(node: Node, found: list[Node]) -> list[Node]:
    """Return at most MOST nodes: where there are more, equal parts of them in order."""
    if len(found) <= MOST:
        return found
    size = -(-len(found) // MOST)
    parts = (found[k : k + size] for k in range(0, len(found), size))
    return [p[0] if len(p) == 1 else _section(node, p) for p in parts]


def _section(node: Node, parts: list[Node]) -> Node:
    first, last = parts[0], parts[-1]
    if first.kind == last.kind == "iteration":
        label = f"#{first.number}–{last.number} {first.label}"
    else:
        what = "ops" if first.kind == "op" else "statements"
        label = f"{len(parts)} {what}: {first.label} …"
    section = Node("section", first.start, last.end, label, first.place, node.depth, parts=parts)
    for part in parts:
        part.parent = section
    return section


def visible(outline: Outline, opened: frozenset[Key]) -> list[Node]:
    """Return the boxes in the order of time, those of opened nodes in their place."""
    found: list[Node] = []
    stack = [*reversed(outline.roots())]
    while stack:
        node = stack.pop()
        children = outline.children(node) if node.key in opened else []
        if children:
            stack.extend(reversed(children))
        else:
            found.append(node)
    return found


def first_open(outline: Outline) -> frozenset[Key]:
    """Return what is unfolded at first: a box that would be the only one."""
    opened: set[Key] = set()
    boxes = outline.roots()
    while len(boxes) == 1 and outline.children(boxes[0]):
        opened.add(boxes[0].key)
        boxes = outline.children(boxes[0])
    return frozenset(opened)
