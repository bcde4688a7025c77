"""View 3: the generated code, and what each buffer holds at the position."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from yota.tape import Var
from yotaview.model.mapping import short
from yotaview.render.buffers import buffer_page, history_page
from yotaview.render.code import code_page, split
from yotaview.render.header import Place
from yotaview.render.line import Page
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import WIDE, Box, View

if TYPE_CHECKING:
    from yota.buffers import Plan
    from yota.codegen import Source


class CodeView(View):
    """The code beside the buffers."""

    why_pane = "buffers"
    main_pane = "code"
    unit: ClassVar[str] = "line of code that computes an op"
    flush: ClassVar[set[str]] = {"code"}
    needs_program: ClassVar[bool] = True

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.form = "lean"
        self.only_body = self.tall_code = False

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {"code": self.code, "buffers": self.buffers, "occupants": self.occupants}

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out code over buffers; beside them where it is wide."""
        if width < WIDE:
            top = height * 3 // 4 if self.tall_code else height - 8
            return {"code": (0, 0, width, top), "buffers": (0, top, width, height - top)}
        left, low = width - round(width * 0.45), 10
        return {
            "code": (0, 0, left, height),
            "buffers": (left, 0, width - left, height - low),
            "occupants": (left, height - low, width - left, low),
        }

    @property
    def source(self) -> Source:
        """The code in the form in sight."""
        return self.session.program.source(self.form)

    @property
    def plan(self) -> Plan:
        """The plan of the buffers in the form in sight."""
        return self.session.program.plan(self.form)

    @property
    def op(self) -> tuple[Var | None, str]:
        """The op of the code that stands for the position, and why it is another one."""
        return self.session.in_code(self.session.at, self.form)

    @property
    def line(self) -> int:
        """The line of the code at the position."""
        source, (var, _) = self.source, self.op
        if var is None:  # nothing is computed behind the position
            return max(source.epilogue.start, 1)
        return source.line_of.get(var, max(source.prologue.start, 1))

    def code(self, width: int, height: int) -> Page:
        """Return the code."""
        return code_page(self.session, self.source, self.state.marks, self.line, width)

    def buffers(self, width: int, height: int) -> Page:
        """Return the buffers."""
        var, why = self.op
        return buffer_page(self.session, self.plan, var, width, height, why)

    def occupants(self, width: int, height: int) -> Page:
        """Return what the buffer of the current op held and holds."""
        return history_page(self.session, self.plan, self.op[0], width)

    def header_place(self) -> Place:
        """Return line, op and buffers."""
        var, why = self.op
        total = len(split(self.source))
        place: Place = [
            (f"line {self.line}/{total}", 0),
            (short(why) or str(var), 1),
        ]
        place.append((f"{len(self.plan.buffers)} bufs {self.plan.nbytes} B", 2))
        return [*place, (self.form, 3)]

    def walk(self, step: int) -> None:
        """Go to the next or previous line that computes an op."""
        number, last = self.line + step, len(split(self.source))
        while 0 < number <= last and not self.computes(number):
            number += step
        if 0 < number <= last:
            self.goto_line(number)
        else:
            self.session.step(step)
            self.moved()

    def computes(self, number: int) -> bool:
        """Tell whether a line computes an op of the tape."""
        return any(v in self.session.tape for v in self.source.ops_of.get(number, ()))

    def goto_line(self, number: int) -> None:
        """Go to the op that a line computes."""
        found = next(
            (v for v in self.source.ops_of.get(number, ()) if v in self.session.tape), None
        )
        if found is None:
            self.tell(f"line {number} computes no op of the recorded tape")
            return
        self.session.step(self.session.stepper.positions[found] - self.session.stepper.index)
        self.moved()

    def do_next(self) -> None:
        """Go to the next line that computes an op."""
        self.walk(1)

    def do_previous(self) -> None:
        """Go to the previous line that computes an op."""
        self.walk(-1)

    def do_layout(self) -> None:
        """Show the lean or the bound form."""
        self.form = "bound" if self.form == "lean" else "lean"
        self.moved()

    def do_group(self) -> None:
        """Give the code more of the height, or less."""
        self.tall_code = not self.tall_code
        self.place()

    def do_more(self) -> None:
        """Give the code more of the height."""
        self.tall_code = True
        self.place()

    def do_less(self) -> None:
        """Give the code less of the height."""
        self.tall_code = False
        self.place()

    def row_moved(self, pane: str, delta: int) -> None:
        """Go by lines of code."""
        for _ in range(abs(delta)):
            self.walk(1 if delta > 0 else -1)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Go to the op of a line; open it in Step."""
        if pane != "code":
            return
        self.goto_line(row + 1)
        if enter:
            self.ask_view("step")

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in the lines of the code."""
        texts = split(self.source)
        return len(texts), self.line - 1, lambda k: texts[k], lambda k: self.goto_line(k + 1)

    def copy_text(self) -> str:
        """Return the whole code."""
        return self.source.text
