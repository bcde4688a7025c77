"""What all views of the screen share besides the session."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.checks.gradcheck import Report
from yotaview.model.boxes import Boxes, Links
from yotaview.model.cells import Cells
from yotaview.model.groups import Groups
from yotaview.model.outline import By, Outline
from yotaview.model.timeline import Timeline
from yotaview.render.flow import Flow, cotangent_order
from yotaview.render.mirror import prepare
from yotaview.render.profile import lines_of
from yotaview.render.text import Marks
from yotaview.render.value import MODES

if TYPE_CHECKING:
    from yotaview.model.profile import Profile
    from yotaview.model.savings import Savings
    from yotaview.model.session import Session


LONG = 5_000


class Times:
    """A profile with the orders and sums that are drawn from it."""

    def __init__(self, session: Session, profile: Profile, savings: Savings) -> None:
        self.profile, self.savings = profile, savings
        self.as_recorded = list(profile.seconds)
        self.slowest = profile.slowest()
        self.top = profile.seconds[self.slowest[0]] if self.slowest else 0.0
        self.lines = lines_of(session, profile)


class Derived:
    """What is computed once for an open call, whatever is opened meanwhile."""

    def __init__(self, session: Session) -> None:
        self.session = session.still()
        self.prepared = self.asked = False
        self.rules = Report()
        self._outlines: dict[By, Outline] = {}
        self.measured: Times | None = None

    @property
    def times(self) -> Times:
        """The times of the ops; raises RuntimeError before they are measured."""
        if self.measured is None:
            raise RuntimeError("the times are not measured yet")
        return self.measured

    def measure(self, stopped: Callable[[], bool]) -> Times:
        """Return new times of the ops, and what the passes save."""
        return Times(self.session, self.session.profile(), self.session.savings(stopped))

    def prepare_graph(self) -> None:
        """Make the boxes of a long tape, and what lies between them."""
        boxes = self.first_boxes
        _ = boxes.forward, boxes.reverse, boxes.spans
        self.drawable = True

    def prepare(self) -> None:
        """Make everything that takes long on a long tape; what fails says so in its own view."""
        with contextlib.suppress(Exception):
            _ = self.session.program.stages, self.merged
        gc.freeze()  # the tape stays: without this each collection walks all of it
        self.prepared = True

    def outline(self, by: By) -> Outline:
        """The forward ops as a tree of boxes."""
        if by not in self._outlines:
            sources = self.session.capture.sources
            self._outlines[by] = Outline(self.session.tape, sources, by)
        return self._outlines[by]

    @cached_property
    def timeline(self) -> Timeline:
        """The same boxes in the order of time."""
        return Timeline(self.outline("line"), self.session.stepper.order)

    @cached_property
    def links(self) -> Links:
        """What reads what, for every way to draw it."""
        return Links(self.outline("line"))

    @cached_property
    def first_boxes(self) -> Boxes:
        """The boxes that the graph opens with, ready to be drawn."""
        boxes = Boxes(self.outline("line"), self.links)
        prepare(self.session, boxes)
        return boxes

    @cached_property
    def drawable(self) -> bool:
        """Tell, of a short tape, that its graph is made at once."""
        return len(self.session.stepper) <= LONG

    @cached_property
    def groups(self) -> Groups:
        """The ops by source statement."""
        return self.session.opened.groups

    @cached_property
    def flow(self) -> Flow:
        """The cotangents in the order of the reverse pass."""
        return cotangent_order(self.session)

    @cached_property
    def merged(self) -> frozenset[Var]:
        """The ops that CSE merges into others."""
        if not self.session.row.has_gradient:
            return frozenset()
        try:
            rewrites = self.session.program.stage("cse").rewrites
        except Exception:  # the marks stay away; view 2 shows what went wrong
            return frozenset()
        return frozenset(r.var for r in rewrites if r.kind == "merged")

    def later(self, var: Var) -> str:
        """Say what the passes made of an op; nothing where the code computes it as recorded."""
        try:
            return self.session.in_code(var, "lean")[1]
        except Exception:  # as with the marks
            return ""

    def kept_in(self, var: Var) -> str:
        """Say which buffer the lean code computes an op into; nothing where that is not so."""
        try:
            buffer = self.session.program.plan().buffer(var)
        except Exception:  # as with the marks
            return ""
        return f"buffer {buffer.name} of the lean code" if buffer is not None else self.later(var)

    @cached_property
    def alarms(self) -> frozenset[Var]:
        """The ops at which an alert begins."""
        return frozenset(a.var for a in self.session.alarms if a.var in self.session.tape)


@dataclass
class State:
    """Breakpoints, the value's mode, what is looked for; and what is derived from the open call."""

    session: Session
    ascii: bool = False
    mode: str = MODES[0]
    cells: Cells = field(default_factory=Cells)
    pinned: Var | None = None
    sought: str = ""
    waiting: bool = False
    rerun: bool = False
    again: str = ""
    marked: tuple[tuple[int, int], ...] = ()
    held: bool = False
    _derived: tuple[object, Derived] | None = None

    def toggle_mark(self, call: tuple[int, int]) -> None:
        """Mark a call for a comparison, or take the mark of its row away."""
        rows = {row for row, _ in self.marked}
        self.marked = tuple(m for m in self.marked if m[0] != call[0])
        if call[0] not in rows:
            self.marked = (*self.marked, call)

    def other_call(self, here: tuple[int, int]) -> tuple[int, int] | None:
        """Return what a call is compared with: the last one marked, else its neighbour in time."""
        marked = next((m for m in reversed(self.marked) if m != here), None)
        if marked is not None:
            return marked
        row, call = here
        count = len(self.session.capture.rows[row].calls)
        near = call - 1 if call else call + 1
        return (row, near) if 0 <= near < count else None

    @property
    def derived(self) -> Derived:
        """What is derived from the open call."""
        opened = self.session.opened
        if self._derived is None or self._derived[0] is not opened:
            self._derived = (opened, Derived(self.session))
        return self._derived[1]

    @property
    def built(self) -> bool:
        """Tell whether stages, code and times of the open call are there, or come at once."""
        return len(self.session.stepper) <= LONG or self.derived.prepared

    @property
    def shown(self) -> tuple[object, ...]:
        """How values are shown, and what is looked for."""
        return self.mode, self.cells.plane, self.pinned, self.sought, self.marked

    @property
    def marks(self) -> Marks:
        """Which ops carry a glyph."""
        merged = frozenset() if self.waiting else self.derived.merged
        session = self.session
        here = session.place
        letters = (
            (p.index, letter)
            for letter, p in session.marks.items()
            if (p.row, p.call) == (here.row, here.call)
        )
        watched = (e.watch.var for e in session.stops.watches(session.row_index) if e.enabled)
        return Marks(
            session.breakpoints,
            merged,
            self.derived.alarms,
            self.derived.rules.marks,
            frozenset(v for v in watched if v is not None),
            tuple(letters),
        )

    @property
    def later(self) -> str:
        """What the passes made of the op at the position, as far as that is known."""
        known = self.built and not self.waiting and self.session.row.failure is None
        return self.derived.later(self.session.at) if known else ""

    @property
    def computed_into(self) -> str:
        """Where the code keeps the op at the position, as far as that is known."""
        known = self.built and not self.waiting and self.session.row.failure is None
        return self.derived.kept_in(self.session.at) if known else ""

    def next_mode(self) -> None:
        """Show the value in the next way."""
        self.mode = MODES[(MODES.index(self.mode) + 1) % len(MODES)]
