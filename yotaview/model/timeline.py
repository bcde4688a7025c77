"""The boxes of an outline in the order of time: those that a position lies in are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from yota.tape import Var
from yotaview.model.outline import Node, Outline


@dataclass(frozen=True, slots=True)
class Entry:
    """Positions `start` up to `end`: a box, closed or open, or plain ops below an open one.

    A box without a node holds inputs and constants.
    """

    start: int
    end: int
    depth: int
    node: Node | None = None
    is_open: bool = False
    is_ops: bool = False

    @property
    def rows(self) -> int:
        """How many rows it takes in a list."""
        return self.end - self.start if self.is_ops else 1


class Timeline:
    """Where the boxes of an outline begin and end on the tape; a constant goes with its reader."""

    def __init__(self, outline: Outline, order: Sequence[Var]) -> None:
        self.outline, self.order = outline, order

    @cached_property
    def _under(self) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], ...]:
        """For each position the forward op that it stands under, and in which pass."""
        of, tape = self.outline.of, self.outline.tape
        under = np.array([of.get(v, -1) for v in self.order], np.intp)
        reverse = np.array([tape.is_reverse(v) for v in self.order], np.intp)
        first = int(np.argmax(under >= 0)) if len(under) and (under >= 0).any() else len(under)
        known = np.where(under >= 0, np.arange(len(under)), len(under) - 1)
        ahead = np.minimum.accumulate(known[::-1])[::-1]
        filled = under[ahead] if len(under) else under
        filled[:first] = -1
        return filled, reverse

    def entries(self, index: int) -> list[Entry]:
        """Return the rows of the list: every box, and those around `index` with what they hold."""
        before: list[Entry] = []
        after: list[Entry] = []
        start, end, depth = 0, len(self.order), 0
        nodes: list[Node] = self.outline.roots()
        while True:
            parts = self._parts(nodes, start, end, depth)
            k = next((k for k, p in enumerate(parts) if p.start <= index < p.end), len(parts) - 1)
            if not parts:
                break
            here = parts[k]
            before += parts[:k]
            after = parts[k + 1 :] + after
            before.append(Entry(here.start, here.end, depth, here.node, is_open=True))
            start, end, depth = here.start, here.end, depth + 1
            nodes = [] if here.node is None else self.outline.children(here.node)
            if not nodes or all(n.kind == "op" for n in nodes):
                before.append(Entry(start, end, depth, is_ops=True))
                break
        return before + after

    def _parts(self, nodes: Sequence[Node], start: int, end: int, depth: int) -> list[Entry]:
        """Return the runs of positions in one half of one node each."""
        under, reverse = (a[start:end] for a in self._under)
        which = np.searchsorted([n.start for n in nodes], under, side="right") - 1
        marks = np.where(under < 0, -1, 2 * which + reverse)
        edges = [0, *(np.flatnonzero(np.diff(marks)) + 1).tolist(), len(marks)]
        found = []
        for a, b in pairwise(edges):
            node = nodes[which[a]] if b > a and under[a] >= 0 and which[a] >= 0 else None
            found += [Entry(start + a, start + b, depth, node)] if b > a else []
        return found
