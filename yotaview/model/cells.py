"""Which element of each value one stands on: the one chosen, else the one most worth a look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Var
from yotaview.model.summary import numeric
from yotaview.model.why.elements import Element, most_urgent

if TYPE_CHECKING:
    from yotaview.model.session import Session

Index = tuple[int, ...]
# beyond this the first element is as good as any: to look for the largest would take time
LARGE = 4_000_000


@dataclass
class Cells:
    """The elements chosen, by row and op; of values with more than two axes also the slice."""

    chosen: dict[tuple[int, Var], Index] = field(default_factory=dict)
    plane: int | None = None

    def at(self, session: Session, var: Var) -> Index | None:
        """Return the index of the element of an op that one stands on; None where it has none."""
        x = numeric(session.opened.values.get(var))
        if x is None or x.size == 0:
            return None
        index = self.chosen.get((session.row_index, var))
        if index is not None and _inside(index, x.shape):
            return index
        return self._first(x)

    def in_sight(self, session: Session, var: Var) -> bool:
        """Tell whether the grid has to scroll to it: one that was chosen, or is not finite."""
        index = self.at(session, var)
        if index is None or self.chosen.get((session.row_index, var)) == index:
            return index is not None
        x = numeric(session.opened.values[var])
        return x is not None and not bool(np.isfinite(x[index]))

    def _first(self, x: np.ndarray[Any, Any]) -> Index:
        if x.ndim > 2 and self.plane is not None:
            lead = _lead(x.shape, self.plane)
            inner = most_urgent(x[lead]) if x[lead].size <= LARGE else (0, 0)
            return (*lead, *inner)
        return most_urgent(x) if x.size <= LARGE else (0,) * x.ndim

    def element(self, session: Session) -> Element | None:
        """Return the element at the position."""
        if session.failed_here or not session.is_known(session.at):
            return None
        index = self.at(session, session.at)
        return None if index is None else Element(session.at, index)

    def put(self, session: Session, element: Element) -> None:
        """Stand on an element."""
        self.chosen[session.row_index, element.var] = element.index
        if len(element.index) > 2:
            shape = np.shape(session.recorded(element.var))
            self.plane = int(np.ravel_multi_index(element.index[:-2], shape[:-2]))

    def move(self, session: Session, down: int, right: int, columns: int) -> bool:
        """Move within the grid, a vector being laid out in rows of `columns`; tell if it moved."""
        index = self.at(session, session.at)
        if not index:
            return False
        shape = np.shape(session.recorded(session.at))
        if len(shape) == 1:
            moved: Sequence[int] = [_vector(index[0], down, right, columns, shape[0])]
        else:
            moved = [
                *index[:-2],
                min(max(index[-2] + down, 0), shape[-2] - 1),
                min(max(index[-1] + right, 0), shape[-1] - 1),
            ]
        self.chosen[session.row_index, session.at] = tuple(moved)
        return tuple(moved) != index

    def next_plane(self, session: Session) -> tuple[int, int]:
        """Take the next slice of the value at the position; return its number of how many."""
        index = self.at(session, session.at)
        if index is None or session.failed_here or len(index) < 3:
            return 0, 0
        lead = np.shape(session.recorded(session.at))[:-2]
        count = math.prod(lead)
        if count < 2:
            return 0, count
        self.plane = (int(np.ravel_multi_index(index[:-2], lead)) + 1) % count
        place = (*_lead((*lead, 1, 1), self.plane), *index[-2:])
        self.chosen[session.row_index, session.at] = place
        return self.plane + 1, count


def _vector(k: int, down: int, right: int, columns: int, size: int) -> int:
    inside = k + down * columns
    inside = inside if 0 <= inside < size else k
    return min(max(inside + right, 0), size - 1)


def _inside(index: Index, shape: tuple[int, ...]) -> bool:
    return len(index) == len(shape) and all(0 <= k < n for k, n in zip(index, shape, strict=True))


def _lead(shape: tuple[int, ...], plane: int) -> Index:
    lead = shape[:-2]
    return tuple(int(k) for k in np.unravel_index(plane % max(math.prod(lead), 1), lead))
