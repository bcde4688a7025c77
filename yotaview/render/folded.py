"""The op list by statements, loops and iterations: the boxes of the graph in the order of time."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from yotaview.model.timeline import Entry, Timeline
from yotaview.render.line import Line, Span, cells, clean, cut, line
from yotaview.render.rows import Rows
from yotaview.render.text import OpRows


class FoldedRows(Rows):
    """A row for each box; of those that the position lies in their parts, at last the ops."""

    def __init__(self, rows: OpRows, timeline: Timeline, index: int) -> None:
        super().__init__(rows.session)
        self.rows, self.here = rows, index
        self.tape = timeline.outline.tape
        self.entries = timeline.entries(min(index, len(rows.order) - 1))
        self.offsets = list(accumulate((e.rows for e in self.entries), initial=0))

    def __len__(self) -> int:
        return self.offsets[-1] + len(self.rows) - len(self.rows.order)

    @property
    def cursor(self) -> int:
        """The row of the current op."""
        if self.here == len(self.rows.order):
            return self.offsets[-1]
        k = next(k for k, e in enumerate(self.entries) if e.is_ops)
        return self.offsets[k] + self.here - self.entries[k].start

    def op_at(self, row: int) -> int:
        """Return the index of the op that a row stands for."""
        if row >= self.offsets[-1]:
            return len(self.rows.order)
        k = bisect_right(self.offsets, row) - 1
        entry = self.entries[k]
        return entry.start + (row - self.offsets[k] if entry.is_ops else 0)

    def row(self, index: int) -> Line:
        """Draw a box or an op."""
        if index >= self.offsets[-1]:
            return self.rows[len(self.rows.order)]
        entry = self.entries[bisect_right(self.offsets, index) - 1]
        return self.rows[self.op_at(index)] if entry.is_ops else self.head(entry)

    def head(self, entry: Entry) -> Line:
        """Return the line of a box: how often it runs, its text, the numbers of its ops."""
        first, last = self.rows.order[entry.start], self.rows.order[entry.end - 1]
        reverse, node = self.tape.is_reverse(first), entry.node
        label = "inputs and constants" if node is None else node.label
        times = f" ×{node.count:,}" if node is not None and node.count > 1 else ""
        number = f"#{node.number:,} " if node is not None and node.number else ""
        tail = f"{first}–{last}" if entry.end - entry.start > 1 else str(first)
        lead = "  " * entry.depth + ("▾ " if entry.is_open else "▸ ")
        fixed = cells(lead) + 2 * reverse + cells(number) + cells(times) + cells(tail) + 2
        room = max(self.rows.room - fixed, 1)
        text = cut(clean(label), room)
        return line(
            Span(lead, "key"),
            Span("δ " if reverse else "", "reverse"),
            Span(number, "number"),
            Span(text, "title"),
            Span(times, "key"),
            " " * (room - cells(text)),
            Span(f"  {tail}", "dim"),
        )
