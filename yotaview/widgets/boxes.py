"""Where panes lie, and what moving the edge of one does to the others."""

from __future__ import annotations

from collections.abc import Mapping

# column, row, width and height
Box = tuple[int, int, int, int]
SMALLEST = (16, 3)


def with_edge_moved(boxes: Mapping[str, Box], name: str, delta: int) -> dict[str, Box]:
    """Return boxes that still fill the view, with one larger by `delta` columns, else rows.

    The edge to the right moves, that to the left of the last column; in a view of one column the
    lower or upper one.  Where a pane would become too small nothing moves.
    """
    if name not in boxes:
        return dict(boxes)
    for axis in (0, 1):
        for edge, sign in _edges(boxes[name], axis):
            if _inner(boxes, edge, axis):
                return _moved(boxes, axis, edge, sign * delta)
    return dict(boxes)


def _edges(box: Box, axis: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the far and the near edge, with the direction in which the box grows."""
    return (box[axis] + box[axis + 2], 1), (box[axis], -1)


def _inner(boxes: Mapping[str, Box], edge: int, axis: int) -> bool:
    """Tell whether an edge lies between boxes."""
    return any(b[axis] == edge for b in boxes.values()) and any(
        b[axis] + b[axis + 2] == edge for b in boxes.values()
    )


def _moved(boxes: Mapping[str, Box], axis: int, edge: int, delta: int) -> dict[str, Box]:
    found = {}
    for name, box in boxes.items():
        numbers = list(box)
        if numbers[axis] == edge:
            numbers[axis] += delta
            numbers[axis + 2] -= delta
        elif numbers[axis] + numbers[axis + 2] == edge:
            numbers[axis + 2] += delta
        if numbers[axis + 2] < min(SMALLEST[axis], box[axis + 2]):
            return dict(boxes)
        found[name] = (numbers[0], numbers[1], numbers[2], numbers[3])
    return found
