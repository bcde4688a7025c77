"""View 4: the tape as a graph."""

from __future__ import annotations

from typing import ClassVar

from yotaview.render.graph import facts, neighbours, unfolded
from yotaview.render.header import Place, op_count
from yotaview.render.line import Page
from yotaview.render.mirror import mirror
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import WIDE, Box, View


class GraphView(View):
    """Statements in a mirror above; below the ops of one, or around one."""

    why_pane = "near"
    main_pane = "mirror"
    flush: ClassVar[set[str]] = {"mirror"}

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.hops = 1
        self.open_group: bool | None = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {"mirror": self.mirror, "group": self.group, "near": self.near, "facts": self.facts}

    def sideways(self) -> set[str]:
        """Return the panes that have a left and a right."""
        return {"mirror"}

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out the mirror over the neighbourhood or the group, over both where it is wide."""
        top = min(12, max(height - 5, 7))
        low = height - top
        if width < WIDE:
            lower = "group" if self.open_group else "near"
            return {"mirror": (0, 0, width, top), lower: (0, top, width, low)}
        left = round(width * 0.65)
        found: dict[str, Box] = {
            "mirror": (0, 0, width, top),
            "facts": (left, top, width - left, low),
        }
        if self.open_group is False:
            return found | {"near": (0, top, left, low)}
        near = 6
        return found | {"group": (0, top, left, low - near), "near": (0, height - near, left, near)}

    def mirror(self, width: int, height: int) -> Page:
        """Return the statements."""
        return mirror(self.session, self.state.derived.groups, width)

    def group(self, width: int, height: int) -> Page:
        """Return the ops of the current statement."""
        return unfolded(self.session, self.state.derived.groups, width)

    def near(self, width: int, height: int) -> Page:
        """Return the ops around the current one."""
        return neighbours(self.session, self.hops, width, height)

    def facts(self, width: int, height: int) -> Page:
        """Return the current op."""
        return facts(self.session, width)

    def header_place(self) -> Place:
        """Return the op, its statement and the layout."""
        groups = self.state.derived.groups
        here = groups.of.get(self.session.at)
        count = len(groups.groups)
        place: Place = [(op_count(self.session), 0), (f"focus {self.session.at}", 1)]
        if here is not None:
            place.append((f"group {here + 1}/{count}", 2))
        return [*place, ("mirror, by statement", 3)]

    def do_layout(self) -> None:
        """Show the ops of the statement, or those around the current one."""
        self.open_group = not self.shows_group()
        if self.current in ("near", "group"):
            self.current = "group" if self.open_group else "near"
        self.place()

    def shows_group(self) -> bool:
        """Tell whether the ops of the statement are in sight."""
        return self.size.width >= WIDE if self.open_group is None else self.open_group

    def do_group(self) -> None:
        """Unfold the statement, or fold it."""
        self.do_layout()

    def do_more(self) -> None:
        """Show a hop more around the current op, up to two."""
        self.hops = 2
        self.redraw()

    def do_less(self) -> None:
        """Show a hop less around the current op."""
        self.hops = 1
        self.redraw()

    def side_moved(self, pane: str, delta: int) -> None:
        """Go to the statement left or right, in the same pass."""
        groups, at = self.state.derived.groups, self.session.at
        here = groups.of.get(at)
        there = 0 if here is None else here + delta
        if not 0 <= there < len(groups.groups):
            return
        group = groups.groups[there]
        ops = group.reverse if self.session.tape.is_reverse(at) and group.reverse else group.forward
        self.goto(ops[0])

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Open the current op in Step."""
        if enter:
            self.ask_view("step")
