"""View 4: the tape as a graph."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import ClassVar

from yotaview.model.boxes import Boxes
from yotaview.model.outline import WAYS, By, Key, Node
from yotaview.render.flowing import FlowRows, flow_rows
from yotaview.render.graph import around, facts, neighbours, unfolded
from yotaview.render.header import Place, op_count
from yotaview.render.line import Page, Span
from yotaview.render.minimap import minimap
from yotaview.render.mirror import Plan, is_lower, mirror, window
from yotaview.render.mirror_down import TALL, DownRows, mirror_down
from yotaview.render.rows import Joined
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import WIDE, Box, View

MAKING = "the boxes of this long tape are being made; every other pane works meanwhile"
FORMS = {
    "across": "the graph from left to right",
    "down": "the graph from top to bottom",
    "flow": "gradient flow: the norm of each box's cotangent",
}
NAMES = {"line": "by source line", "function": "by function called", "op": "every op by itself"}
MAPPED = (120, 32)


class GraphView(View):
    """Boxes in a mirror above, or their gradient flow; below the ops of one, or around one."""

    why_pane = "near"
    main_pane = "mirror"
    flush: ClassVar[set[str]] = {"mirror"}

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.hops, self.pick = 1, -1
        self.form = "across"
        self.inside: bool | None = None
        self.mapped = True
        self.start = 0
        # what was unfolded last: by it the screen sees that a key changed something
        self.unfolded: frozenset[Key] = frozenset()
        self.picked_at = ""
        self._boxes: tuple[object, Boxes] | None = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {
            "mirror": self.mirror,
            "group": self.group,
            "near": self.near,
            "facts": self.facts,
            "map": self.map,
        }

    def sideways(self) -> set[str]:
        """Return the panes that have a left and a right."""
        return {"mirror"}

    @property
    def graph(self) -> Boxes:
        """The boxes in sight."""
        opened, derived = self.session.folding.boxes.get(self.way), self.state.derived
        key = (derived, self.way, opened)
        if self._boxes is None or self._boxes[0] != key:
            if opened is None and self.way == "line":
                boxes = derived.first_boxes
            else:
                boxes = Boxes(derived.outline(self.way), derived.links, opened)
            self._boxes = (key, boxes)
        return self._boxes[1]

    @property
    def way(self) -> By:
        """How ops are put into boxes."""
        return self.session.folding.by

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out the graph over the neighbourhood or the inside, over both where it is wide."""
        top = min(13, max(height - 5, 7))
        if self.form != "across":
            top = max(height - 5, 7) if height <= 24 else round(height * 0.6)
        low = height - top
        if width < WIDE:
            lower = "group" if self.inside else "near"
            return {"mirror": (0, 0, width, top), lower: (0, top, width, low)}
        left = round(width * 0.65)
        found: dict[str, Box] = {"mirror": (0, 0, width, top)}
        found |= self.right(left, top, width - left, low, height)
        if self.inside is False:
            return found | {"near": (0, top, left, low)}
        near = max(min(low // 3, 9), 6)
        return found | {"group": (0, top, left, low - near), "near": (0, height - near, left, near)}

    def right(self, left: int, top: int, width: int, low: int, height: int) -> dict[str, Box]:
        """Lay out what stands at the right below the graph."""
        wide = self.size.width >= MAPPED[0] and height >= MAPPED[1]
        if not (self.mapped and wide):
            return {"facts": (left, top, width, low)}
        return {"facts": (left, top, width, low - 6), "map": (left, height - 6, width, 6)}

    @property
    def ready(self) -> bool:
        """Tell whether the boxes can be drawn at once."""
        return self.state.derived.drawable

    def mirror(self, width: int, height: int) -> Page:
        """Return the graph, or the gradient flow."""
        if not self.ready:
            return Page([(Span(MAKING, "dim"),)], "Whole tape")
        boxes, session = self.graph, self.session
        if self.form == "flow":
            return flow_rows(session, boxes, width)
        if self.form == "down":
            return mirror_down(session, boxes, width)
        plan = Plan.across(boxes, width)
        self.start = window(plan, boxes.at(session.at), width, self.start)
        return mirror(session, boxes, width, self.start)

    def group(self, width: int, height: int) -> Page:
        """Return the ops of the current box."""
        return unfolded(self.session, self.graph) if self.ready else self.near(width, height)

    def near(self, width: int, height: int) -> Page:
        """Return the ops around the current one."""
        if self.picked_at != str(self.session.place):
            self.pick, self.picked_at = -1, str(self.session.place)
        pick = self.pick if self.pick >= 0 else None
        return neighbours(self.session, self.names, self.hops, width, height, pick)

    @property
    def names(self) -> Boxes | None:
        """The boxes, of which names are known, once they are made."""
        return self.graph if self.ready else None

    def facts(self, width: int, height: int) -> Page:
        """Return the current op."""
        return facts(self.session, self.names, width)

    def map(self, width: int, height: int) -> Page:
        """Return the whole tape in a few rows."""
        if not self.ready:
            return Page([], "Map")
        boxes, inner = self.graph, self.panes["mirror"].inner
        return minimap(self.session, boxes, width, self.in_sight(boxes, *inner))

    def in_sight(self, boxes: Boxes, width: int, height: int) -> tuple[float, float]:
        """Return the part of the ops whose boxes are in sight."""
        count = len(boxes.nodes)
        if self.form == "across":
            plan = Plan.across(boxes, width)
            first, last = self.start // plan.pitch, (self.start + width) // plan.pitch
        else:
            top = self.panes["mirror"].top
            first, last = top // TALL, (top + height) // TALL
        if self.form == "flow" or not count:
            return 0.0, 1.0
        total = max(len(boxes.outline.calls), 1)
        first, last = max(min(first, count - 1), 0), max(min(last, count), 1)
        return boxes.nodes[first].start / total, boxes.nodes[last - 1].end / total

    def header_place(self) -> Place:
        """Return the op, its box and the layout."""
        place: Place = [(op_count(self.session), 0), (f"focus {self.session.at}", 1)]
        if not self.ready:
            return place
        here, count = self.graph.at(self.session.at), len(self.graph.nodes)
        if here is not None:
            place.append((f"box {here + 1}/{count}", 2))
        layout = {"across": "mirror", "down": "mirror, top to bottom", "flow": "gradient flow"}
        return [*place, (f"{layout[self.form]}, {NAMES[self.way]}", 3)]

    def do_layout(self) -> None:
        """Take the next form: left to right, top to bottom, gradient flow."""
        names = list(FORMS)
        self.form = names[(names.index(self.form) + 1) % len(names)]
        self.panes["mirror"].top = self.panes["mirror"].left = 0
        self.place()
        self.moved()
        self.tell(FORMS[self.form])

    def do_group(self) -> None:
        """Take the next way to put ops into boxes."""
        self.session.folding.by = WAYS[(WAYS.index(self.way) + 1) % len(WAYS)]
        self.moved()
        self.tell(f"boxes {NAMES[self.way]}")

    def do_map(self) -> None:
        """Show the map, or not."""
        if self.size.width < MAPPED[0] or self.size.height < MAPPED[1]:
            self.tell("the map needs a terminal of 120 columns and 40 rows")
            return
        self.mapped = not self.mapped
        self.place()

    def do_more(self) -> None:
        """Unfold the current box; of the neighbourhood a hop more, up to four."""
        if self.current == "near":
            self.hops = min(self.hops + 1, 4)
            self.redraw()
            return
        node = self.current_node()
        if node is None or not self.graph.outline.children(node):
            self.tell("no box to unfold here: + unfolds the one with the thick frame")
            return
        self.show(self.graph.opened_with(node))

    def do_less(self) -> None:
        """Fold what the current box is a part of; of the neighbourhood a hop less."""
        if self.current == "near":
            self.hops = max(self.hops - 1, 1)
            self.redraw()
            return
        node = self.current_node()
        folded = None if node is None else self.graph.closed_around(node)
        if folded is None:
            self.tell("fold: nothing to do here, this box is part of no other")
            return
        self.show(folded)

    def current_node(self) -> Node | None:
        """Return the box that the position lies in."""
        here = self.graph.at(self.session.at) if self.ready else None
        return None if here is None else self.graph.nodes[here]

    def show(self, boxes: Boxes) -> None:
        """Take other boxes into sight."""
        self.session.folding.boxes[self.way] = self.unfolded = boxes.opened
        self._boxes = ((self.state.derived, self.way, boxes.opened), boxes)
        self.moved()

    def do_finish(self) -> None:
        """Move to the first op of what comes next in time: the box at the side, or its twin."""
        self.to_edge(forward=True)

    def do_back_finish(self) -> None:
        """Move to the start of this box, from there to that of the one before in time."""
        self.to_edge(forward=False)

    def to_edge(self, *, forward: bool) -> None:
        """Move along the tape until the box changes."""
        if not self.ready:
            return
        stepper = self.session.stepper
        edges, index = self.graph.edges(stepper.order), stepper.index
        if forward:
            k = bisect_right(edges, index)
            there = edges[k] if k < len(edges) else len(stepper) - 1
        else:
            there = edges[max(bisect_left(edges, index) - 1, 0)] if edges else 0
        self.session.step(there - index)
        self.moved()

    def side_moved(self, pane: str, delta: int) -> None:
        """Go to the box left or right, in the same pass; to the other pass where boxes stand."""
        if self.form == "across":
            self.beside(delta)
        elif self.form == "down":
            self.across(reverse=delta > 0)

    def row_moved(self, pane: str, delta: int) -> None:
        """Choose among neighbours; in the graph go to the other pass, or along this one."""
        if pane == "near" and self.hops == 1:
            count = len(around(self.session))
            self.pick = max(min(self.pick + delta, count - 1), 0)
            self.panes["near"].redraw()
        elif pane != "mirror" or not self.ready:
            super().row_moved(pane, delta)
        elif self.form == "across":
            self.across(reverse=delta > 0)
        elif self.form == "down":
            self.beside(delta)
        else:
            self.along(delta)

    def along(self, delta: int) -> None:
        """Go to the row above or below in the list of the gradient flow."""
        lines = self.panes["mirror"].page.lines
        rows = lines.rest if isinstance(lines, Joined) else None
        if not isinstance(rows, FlowRows):
            return
        step = 1 if delta > 0 else -1
        k = rows.cursor + delta
        while 0 <= k < len(rows) and rows.var_at(k) is None:
            k += step
        var = rows.var_at(k) if 0 <= k < len(rows) else None
        if var is not None:
            self.goto(var)

    def beside(self, delta: int) -> None:
        """Go to another box in the same pass."""
        if not self.ready:
            return
        boxes, at = self.graph, self.session.at
        here = boxes.at(at)
        there = 0 if here is None else max(0, min(here + delta, len(boxes.nodes) - 1))
        if boxes.nodes and there != here:
            self.enter_box(there, reverse=self.session.tape.is_reverse(at))

    def across(self, *, reverse: bool) -> None:
        """Go to the other half of the box."""
        here = self.graph.at(self.session.at) if self.ready else None
        if here is not None and reverse != self.session.tape.is_reverse(self.session.at):
            self.enter_box(here, reverse=reverse)

    def enter_box(self, box: int, *, reverse: bool) -> None:
        """Go to the first op of one half of a box."""
        outline, node = self.graph.outline, self.graph.nodes[box]
        back = outline.reverse(node) if reverse else []
        self.goto((back or outline.forward(node))[0])

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Unfold the current box; go to the chosen neighbour; open an op in Step."""
        if pane == "near" and enter and self.pick >= 0 and self.hops == 1:
            self.goto(around(self.session)[self.pick])
        elif pane == "mirror" and not enter and self.ready:
            self.clicked(row)
        elif pane == "mirror" and enter and self.ready and self.folded_here():
            self.do_more()
        elif enter:
            self.ask_view("step")

    def folded_here(self) -> bool:
        """Tell whether the current box unfolds."""
        node = self.current_node()
        return node is not None and bool(self.graph.outline.children(node))

    def clicked(self, row: int) -> None:
        """Go to the box of a row."""
        lines = self.panes["mirror"].page.lines
        if isinstance(lines, Joined) and isinstance(lines.rest, FlowRows):
            var = lines.rest.var_at(max(row - len(lines.head), 0))
            if var is not None:
                self.goto(var)
        elif isinstance(lines, DownRows):
            self.enter_box(row // TALL, reverse=self.session.tape.is_reverse(self.session.at))
        elif self.form == "across":
            plan = Plan.across(self.graph, self.panes["mirror"].inner[0])
            box = plan.box_at(self.start + self.column)
            if box is not None:
                self.enter_box(box, reverse=is_lower(row))

    def do_fit(self) -> None:
        """Bring the current box into the middle."""
        boxes = self.graph if self.ready else None
        here = boxes.at(self.session.at) if boxes is not None else None
        if boxes is not None and here is not None:
            width = self.panes["mirror"].inner[0]
            plan = Plan.across(boxes, width)
            self.start = plan.place(here) - (width - plan.box) // 2
        super().do_fit()
