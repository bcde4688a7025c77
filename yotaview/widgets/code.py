"""View 3: the generated code, and what each buffer holds at the position."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from yota.tape import Var
from yotaview.checks.buffers import hazards_of
from yotaview.model.mapping import short
from yotaview.render.buffers import BufferRows, Chosen, buffer_page
from yotaview.render.code import DEEPEST, FOLDS, CodeRows, Here, code_page
from yotaview.render.header import Place
from yotaview.render.line import Page
from yotaview.render.occupants import OccupantRows, history_page
from yotaview.widgets.background import Background
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import HUGE, WIDE, Box, View

if TYPE_CHECKING:
    from yota.buffers import Plan
    from yota.codegen import Source
    from yotaview.checks.hazards import Hazard
    from yotaview.model.codemap import CodeMap, Stop
    from yotaview.model.occupants import Occupants
    from yotaview.model.session import Place as Spot


class CodeView(Background, View):
    """The code beside the buffers."""

    why_pane = "buffers"
    main_pane = "code"
    unit: ClassVar[str] = "line of code that computes an op"
    flush: ClassVar[set[str]] = {"code"}
    needs_program: ClassVar[bool] = True

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.form = "lean"
        self.level = 1
        self.tall_code = False
        # a line that was gone to, for as long as the position stays: it may compute no recorded op
        self.stood: tuple[Spot, str, Here] | None = None
        self.buffer: int | None = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {"code": self.code, "buffers": self.buffers, "occupants": self.occupants}

    def sideways(self) -> set[str]:
        """Return the panes in which left and right go from write to write."""
        return {"buffers", "occupants"}

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out code over buffers; beside them where it is wide."""
        if width < WIDE:
            top = height * 3 // 4 if self.tall_code else height - 8
            return {"code": (0, 0, width, top), "buffers": (0, top, width, height - top)}
        left = width - round(width * (0.5 if width >= HUGE else 0.45))
        low = max(12, height * 2 // 5)
        return {
            "code": (0, 0, left, height),
            "buffers": (left, 0, width - left, height - low),
            "occupants": (left, height - low, width - left, low),
        }

    def situation(self) -> tuple[object, ...]:
        """Return what a key can change here."""
        stood = self.here.line
        return (
            *super().situation(),
            self.form,
            self.level,
            self.tall_code,
            stood,
            self.buffer,
            self.busy,
        )

    @property
    def source(self) -> Source:
        """The code in the form in sight."""
        return self.session.program.source(self.form)

    @property
    def map(self) -> CodeMap:
        """Which line computes which op."""
        return self.session.opened.code_map(self.form)

    @property
    def plan(self) -> Plan:
        """The plan of the buffers in the form in sight."""
        return self.session.program.plan(self.form)

    @property
    def known(self) -> Occupants:
        """Who writes and reads each buffer."""
        return self.session.occupants(self.form)

    @property
    def op(self) -> tuple[Var | None, str]:
        """The op of the code that stands for the position, and why it is another one."""
        if self.stood is not None and self.stood[:2] == (self.session.place, self.form):
            stop = self.stood[2].stop
            if stop is not None:
                recorded = stop.var in self.session.tape
                return stop.var, "" if recorded else f"{stop.var} made by a pass"
        var, why = self.session.in_code(self.session.at, self.form)
        own, place = self.map.stop_of(var), self.map.place_of(var)
        if var is not None and own is not None and place is not None and own != place:
            at = f"made once, line {own.line}"
            return var, f"{why}; {at}" if why else f"{var} used at {place.var}: {at}"
        return var, why

    @property
    def here(self) -> Here:
        """The line of the code at the position, or the one that was gone to since."""
        if self.stood is not None and self.stood[:2] == (self.session.place, self.form):
            return self.stood[2]
        var, _ = self.session.in_code(self.session.at, self.form)
        source = self.source
        if var is None:  # nothing is computed behind the position
            return Here(max(source.epilogue.start, 1))
        stop = self.map.place_of(var)
        return Here(max(source.prologue.start, 1)) if stop is None else Here(stop.line, stop)

    @property
    def held(self) -> int | None:
        """The buffer that is looked at: chosen, or the one that the current op writes or reads."""
        if self.buffer is not None and self.buffer < len(self.plan.buffers):
            return self.buffer
        var = self.op[0]
        code = self.session.program.tape_of(self.form)
        near = () if var is None else (var, *getattr(code.ops.get(var), "operands", ()))
        return next((self.plan.slot[v] for v in near if v in self.plan.slot), None)

    def code(self, width: int, height: int) -> Page:
        """Return the code."""
        marks = self.state.marks
        return code_page(self.session, marks, self.here, width, self.form, self.level)

    def chosen(self, told: bool = False) -> Chosen:
        """Return which buffer is looked at, and what the check of all said."""
        return Chosen(self.held, told, self.checked if told or self.size.width >= WIDE else "")

    def buffers(self, width: int, height: int) -> Page:
        """Return the buffers."""
        var, why = self.op
        chosen = self.chosen(told=not self.panes["occupants"].display)
        return buffer_page(self.session, self.plan, var, width, height, why, chosen)

    def occupants(self, width: int, height: int) -> Page:
        """Return what the buffer in sight held and holds."""
        chosen = Chosen(self.held)
        return history_page(self.session, self.plan, self.op[0], width, chosen)

    def header_place(self) -> Place:
        """Return line, op and buffers."""
        (var, why), here = self.op, self.here
        total = len(self.map.texts)
        turn = ""
        if here.stop is not None and here.stop.rounds:
            turn = f" round {here.stop.round}/{here.stop.rounds}"
        place: Place = [(f"line {here.line}/{total}{turn}", 0), (short(why) or str(var), 1)]
        place.append((f"{len(self.known.wholes)} bufs {self.plan.nbytes} B", 2))
        return [*place, (self.form, 3)]

    def stand(self, here: Here) -> None:
        """Go to a line; the position goes to the op that it computes, or the next recorded one."""
        if here.stop is not None:
            place = self.known.places[here.stop.var]
            self.session.step(place - self.session.stepper.index)
        self.stood = (self.session.place, self.form, here)
        self.moved()

    def walk(self, step: int) -> None:
        """Go to the next or previous line that computes an op, in a loop round by round."""
        here = self.here
        stop = self.map.next(here.stop, here.line, step)
        if stop is not None:
            self.stand(Here(stop.line, stop))

    def goto_line(self, number: int) -> None:
        """Go to a line, and to the op that it computes."""
        stop = self.map.on_line(number, self.here.stop)
        self.stand(Here(number, stop))
        if stop is None:
            self.tell(f"line {number} computes no op: the position stays at {self.session.at}")
        elif stop.var not in self.session.tape:
            self.tell(f"{stop.var} was made by a pass: the position is the next recorded op")

    def goto_op(self, var: Var) -> None:
        """Go to an op of the code."""
        stop: Stop | None = self.map.stop_of(var)
        if stop is not None:
            self.stand(Here(stop.line, stop))
        elif var in self.session.tape:
            self.goto(var)

    def do_next(self) -> None:
        """Go to the next line that computes an op."""
        self.walk(1)

    def do_previous(self) -> None:
        """Go to the previous line that computes an op."""
        self.walk(-1)

    def do_next_access(self) -> None:
        """Go to the next op that writes or reads the buffer in sight."""
        self.access(1)

    def do_previous_access(self) -> None:
        """Go to the previous op that writes or reads the buffer in sight."""
        self.access(-1)

    def access(self, step: int, *, writes: bool = False) -> None:
        """Go along the accesses of a buffer, which stays in sight."""
        k, at = self.held, self.op[0]
        if k is None or at is None:
            self.tell("no buffer is written or read here")
            return
        self.buffer, name = k, self.plan.buffers[k].name
        found = self.known.next_access(k, at, step, writes=writes)
        if found is None:
            what = "writes" if writes else "writes or reads"
            self.tell(f"no {'further' if step > 0 else 'earlier'} op {what} {name}")
            return
        self.goto_op(found.var)
        self.tell(f"{found.var} writes {name}" if found.writes
                  else f"{found.var} reads {found.of} in {name}")  # fmt: skip

    def do_layout(self) -> None:
        """Show the lean or the bound form."""
        self.form = "bound" if self.form == "lean" else "lean"
        self.buffer = None
        self.moved()

    def do_group(self) -> None:
        """Give the code more of the height, or less."""
        self.tall_code = not self.tall_code
        self.place()

    def do_more(self) -> None:
        """Show one kind of section more."""
        self.fold(max(self.level - 1, 0))

    def do_less(self) -> None:
        """Fold one kind of section more."""
        self.fold(min(self.level + 1, DEEPEST))

    def fold(self, level: int) -> None:
        """Show the code with some sections folded."""
        self.level = level
        self.moved()
        self.tell(f"the code: {FOLDS[level]}")

    def do_fit(self) -> None:
        """Look at the buffer of the current op again."""
        self.buffer = self.stood = None
        super().do_fit()
        self.moved()

    def do_verify(self) -> None:
        """Look for hazards in plan and code, and compare each value of a run with the tape's."""
        session = self.session.still()
        self.work("looking for hazards", lambda: hazards_of(session), self.found)

    def found(self, result: tuple[list[Hazard], str]) -> None:
        """Say what the check found, and go to the first of it."""
        hazards, why = result
        if hazards:
            self.checked = f"✗ {len(hazards)} hazards: {hazards[0].kind}: {hazards[0].text}"
            self.goto_op(hazards[0].var)
        else:
            ran = f"not run: {why}" if why else "every value bit-identical to the tape ✓"
            self.checked = f"buffers: no hazard ✓  code: {ran}"
        self.moved()
        self.tell(self.checked)

    def row_moved(self, pane: str, delta: int) -> None:
        """Go by lines of code, by buffers, or from write to write."""
        if pane == "buffers":
            self.choose_buffer(delta)
            return
        for _ in range(abs(delta)):
            if pane == "occupants":
                self.access(1 if delta > 0 else -1, writes=True)
            else:
                self.walk(1 if delta > 0 else -1)

    def choose_buffer(self, delta: int) -> None:
        """Look at the buffer of the next or previous row."""
        rows = self.panes["buffers"].page.lines
        if not isinstance(rows, BufferRows) or not rows.order:
            return
        here = rows.row_of(self.held)
        row = len(rows.above) if here is None else here + delta
        self.buffer = rows.buffer_of(
            max(len(rows.above), min(row, len(rows) - len(rows.below) - 1))
        )
        self.moved()

    def side_moved(self, pane: str, delta: int) -> None:
        """Go to the next or previous write of the buffer in sight."""
        self.access(delta, writes=True)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Go to the op of a line, or to who wrote what a buffer holds; open it in Step."""
        rows = self.panes[pane].page.lines
        if isinstance(rows, CodeRows):
            part, number = rows.part(row)
            if part.folded:
                self.do_more()
                return
            if number != self.here.line:
                self.goto_line(number)
            if enter:
                self.ask_view("step")
        elif isinstance(rows, BufferRows):
            k = rows.buffer_of(row)
            self.buffer = k if k is not None else self.buffer
            held = rows.holds.get(k) if k is not None else None
            if enter and held is not None:
                self.goto_op(held)
            self.moved()
        elif isinstance(rows, OccupantRows) and (var := rows.occupant_of(row)) is not None:
            self.buffer = rows.k
            self.goto_op(var)

    def watched(self) -> str:
        """Return the buffer that is looked at, the op where the code has none or never ran."""
        k = self.held
        if k is None or self.session.row.failure is not None:
            return super().watched()
        return f"{'bound:' if self.form == 'bound' else ''}{self.plan.buffers[k].name}"

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in the lines of the code, those of folded sections, too."""
        texts = self.map.texts
        return len(texts), self.here.line - 1, lambda k: texts[k], lambda k: self.goto_line(k + 1)

    def copy_text(self) -> str:
        """Return the whole code."""
        return self.source.text
