"""The boxes of a graph: which nodes of an outline are in sight, and what links them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from yota.tape import Call, Var
from yotaview.model.outline import Key, Node, Outline, first_open, visible

Pairs = np.ndarray[tuple[int, ...], np.dtype[np.intp]]


class Links:
    """What reads what on a tape, as pairs of forward ops under which both ends stand."""

    def __init__(self, outline: Outline) -> None:
        tape, of = outline.tape, outline.of
        lanes: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for var, op in tape if of else ():
            if not isinstance(op, Call) or var not in of:
                continue
            reverse = tape.is_reverse(var)
            lane = lanes[reverse]
            for operand in op.operands:
                if operand in of and tape.is_reverse(operand) == reverse:
                    lane.append((of[operand], of[var]))
        self.forward, self.reverse = (_pairs(lane) for lane in lanes)


def _pairs(found: list[tuple[int, int]]) -> Pairs:
    return np.array(found, np.intp).reshape(-1, 2)


class Boxes:
    """The nodes in sight in the order of time; the same for every position on the tape."""

    def __init__(
        self, outline: Outline, links: Links, opened: frozenset[Key] | None = None
    ) -> None:
        self.outline, self.links = outline, links
        self.opened = first_open(outline) if opened is None else opened
        self.nodes = visible(outline, self.opened)
        self.starts = [n.start for n in self.nodes]
        self._edges: list[int] | None = None

    def at(self, var: Var) -> int | None:
        """Return the number of the box that an op stands in; None for inputs and constants."""
        k = self.outline.of.get(var)
        return None if k is None else bisect_right(self.starts, k) - 1

    def edges(self, order: Sequence[Var]) -> list[int]:
        """Return the positions at which another half of a box begins; 0 among them."""
        if self._edges is None:
            self._edges = self._find_edges(order)
        return self._edges

    def _find_edges(self, order: Sequence[Var]) -> list[int]:
        of, tape = self.outline.of, self.outline.tape
        under = np.array([of.get(v, -1) for v in order], np.intp)
        box = np.searchsorted(self.starts, under, side="right") - 1
        halves = np.array([tape.is_reverse(v) for v in order])
        marks = np.where(under < 0, -1, 2 * box + halves)
        known = np.flatnonzero(marks >= 0)
        changes = known[np.flatnonzero(np.diff(marks[known], prepend=-1))]
        return sorted({0, *map(int, changes)})

    @cached_property
    def forward(self) -> set[tuple[int, int]]:
        """Which boxes read which in the forward pass."""
        return self._between(self.links.forward)

    @cached_property
    def reverse(self) -> set[tuple[int, int]]:
        """Which boxes read which in the reverse pass."""
        return self._between(self.links.reverse)

    def _between(self, pairs: Pairs) -> set[tuple[int, int]]:
        if not len(pairs):
            return set()
        ends = np.searchsorted(self.starts, pairs, side="right") - 1
        count = len(self.nodes)
        keys = np.unique(ends[:, 0] * count + ends[:, 1])
        return {(int(k) // count, int(k) % count) for k in keys if k // count != k % count}

    @cached_property
    def spans(self) -> tuple[dict[int, str], dict[int, str]]:
        """How links that lead past a box go through the gap behind each box: on, or ending there.

        For each lane a mark by gap: `-` a link passes, `>` one ends at the next box of its lane.
        """
        return _spans(self.forward), _spans(self.reverse)

    def far(self, box: int) -> tuple[list[int], list[int]]:
        """Return the boxes that a box reads and those that read it, neighbours left out."""
        edges = self.forward | self.reverse
        reads = sorted({a for a, b in edges if b == box and abs(a - b) > 1})
        read_by = sorted({b for a, b in edges if a == box and abs(a - b) > 1})
        return reads, read_by

    def opened_with(self, node: Node) -> Boxes:
        """Return the boxes with a node unfolded in its place."""
        return Boxes(self.outline, self.links, self.opened | {node.key})

    def closed_around(self, node: Node) -> Boxes | None:
        """Return the boxes with what a node is a part of folded; None where it is part of none."""
        parent = node.parent
        if parent is None or parent.kind == "root":
            return None
        outer, up = set(), parent.parent
        while up is not None:
            outer.add(up.key)
            up = up.parent
        inside = {k for k in self.opened if parent.start <= k[1] and k[2] <= parent.end}
        return Boxes(self.outline, self.links, self.opened - (inside - outer))


def _spans(edges: Iterable[tuple[int, int]]) -> dict[int, str]:
    found: dict[int, str] = {}
    for a, b in edges:
        if abs(a - b) < 2:
            continue
        low, high = min(a, b), max(a, b)
        ends = high - 1 if b > a else low
        for gap in range(low, high):
            if found.get(gap) != ">":
                found[gap] = ">" if gap == ends else "-"
    return found
