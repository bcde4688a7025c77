"""The way from one number to those that it is made of, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from yotaview.model.why.elements import Element
from yotaview.model.why.follow import Row


@dataclass(frozen=True, slots=True)
class Trail:
    """The elements followed, and for each the row and the part of it that is chosen."""

    elements: tuple[Element, ...] = ()
    chosen: tuple[tuple[int, int | None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.elements)

    @classmethod
    def of(cls, element: Element) -> Trail:
        """Begin at an element."""
        return cls((element,), ((0, None),))

    @property
    def element(self) -> Element:
        """The element that is explained."""
        return self.elements[-1]

    @property
    def row(self) -> int:
        """The row that is chosen."""
        return self.chosen[-1][0]

    def side(self, rows: list[Row]) -> int:
        """The part of that row which is followed."""
        side = self.chosen[-1][1]
        return rows[self.row].lead if side is None else side

    def to_row(self, row: int, count: int) -> Trail:
        """Choose a row, or the nearest end."""
        return self._choose(max(0, min(row, count - 1)), None)

    def to_side(self, step: int, rows: list[Row]) -> Trail:
        """Choose the next or previous part of the row that can be followed."""
        ways = rows[self.row].ways if rows else []
        if not ways:
            return self
        here = self.side(rows)
        at = ways.index(here) if here in ways else 0
        return self._choose(self.row, ways[(at + step) % len(ways)])

    def _choose(self, row: int, side: int | None) -> Trail:
        return replace(self, chosen=(*self.chosen[:-1], (row, side)))

    def onward(self, rows: list[Row]) -> Trail | None:
        """Follow the chosen part; None where nothing on the tape made it."""
        if not rows:
            return None
        element = rows[self.row].parts[self.side(rows)].element
        if element is None:
            return None
        return Trail((*self.elements, element), (*self.chosen, (0, None)))

    def back(self) -> Trail:
        """Return to the element before; empty after the first."""
        return Trail(self.elements[:-1], self.chosen[:-1])
