"""The generated code with the position in it, section by section."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yotaview.model.codemap import CodeMap, Stop, split
from yotaview.render.buffers import role_of
from yotaview.render.line import Line, Page, Span, clean, line, spread
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, STOP, Marks

if TYPE_CHECKING:
    from yota.codegen import Source
    from yota.tape import Var
    from yotaview.model.session import Session

__all__ = ["DEEPEST", "CodeRows", "Here", "code_page", "section", "split"]

NOT_RUN = "not run: grad ran the trace"
SECTIONS = {"P": "note", "B": "forward", "E": "reverse"}
FOLDS = ("whole", "without what is made once", "body alone", "headings alone")
DEEPEST = len(FOLDS) - 1
FEW, MOST = 3, 3
ROOMY = 90


@dataclass(frozen=True, slots=True)
class Here:
    """Where one stands in the code: a line, and the op and round where it computes one."""

    line: int
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that stand one below the other, or one row for all of them where they are folded."""

    first: int
    last: int
    folded: str = ""

    def __len__(self) -> int:
        return 1 if self.folded else self.last - self.first + 1


def section(source: Source, number: int) -> str:
    """Return the section of a line, P, B or E; a blank outside of them."""
    for name, lines in (("P", source.prologue), ("B", source.body), ("E", source.epilogue)):
        if number in lines:
            return name
    return " "


def stretches(source: Source, count: int, level: int, here: int) -> list[Stretch]:
    """Return all lines with some sections folded; the line `here` is never hidden."""
    names = {1: ("made once",), 2: ("made once", "prologue", "epilogue")}
    folded = names.get(level, () if not level else ("made once", "prologue", "body", "epilogue"))
    found: list[Stretch] = []
    for what, first, last in _parts(source, count):
        if last - first < FEW or what not in folded:
            found.append(Stretch(first, last))
            continue
        edges = [(first, here - 1), (here, here), (here + 1, last)]
        if not first <= here <= last:
            edges = [(first, last)]
        found += [Stretch(a, b, "" if a == b == here else what) for a, b in edges if a <= b]
    return found


def _parts(source: Source, count: int) -> list[tuple[str, int, int]]:
    """Return the sections with their first and last lines; headings are no part of them."""
    once = source.prologue.start - 1
    found = [("made once", 1, once - 1)] if once > 1 else []
    found.append(("head", max(once, 1), source.prologue.start))
    edges = (source.prologue, source.body, source.epilogue)
    for name, lines in zip(("prologue", "body", "epilogue"), edges, strict=True):
        found += [(f"{name} heading", lines.start, lines.start)] if name != "prologue" else []
        found.append((name, lines.start + 1, lines.stop - 1))
    found.append(("end", source.epilogue.stop, count))
    return [(name, a, b) for name, a, b in found if a <= b]


class CodeRows(Rows):
    """The lines of generated code, each drawn when it is asked for."""

    def __init__(
        self, session: Session, code: CodeMap, marks: Marks, here: Here, room: int, level: int = 0
    ) -> None:
        super().__init__(session)
        self.code, self.marks, self.here, self.room = code, marks, here, room
        self.form = code.source.form
        self.stretches = stretches(code.source, len(code.texts), level, here.line)
        self.starts = [0]
        for part in self.stretches:
            self.starts.append(self.starts[-1] + len(part))
        self.digits = len(str(len(code.texts)))

    def __len__(self) -> int:
        return self.starts[-1]

    def part(self, row: int) -> tuple[Stretch, int]:
        """Return the stretch in which a row stands, and the line of the row."""
        k = bisect_right(self.starts, row) - 1
        part = self.stretches[k]
        return part, part.first + (0 if part.folded else row - self.starts[k])

    def row_of(self, number: int) -> int:
        """Return the row in which a line stands."""
        for start, part in zip(self.starts, self.stretches, strict=False):
            if part.first <= number <= part.last:
                return start + (0 if part.folded else number - part.first)
        return 0

    def row(self, index: int) -> Line:
        """Draw one line of the code, or of what is folded."""
        part, number = self.part(index)
        return _fold(part) if part.folded else _row(self, number)


def code_page(
    session: Session, marks: Marks, here: Here, width: int, form: str = "lean", level: int = 0
) -> Page:
    """Return the code with the line `here` marked, and at the right which op a line computes."""
    code = session.opened.code_map(form)
    why = session.program.why_retraced
    state = f" · {NOT_RUN}: {why}" if why else ""
    stop = here.stop
    if stop is not None and stop.rounds:
        state = f" · round {stop.round:,} of {stop.rounds:,}{state}"
    note = "P prologue · B body · E epilogue" if width >= 78 else "P · B · E"
    rows = CodeRows(session, code, marks, here, width, level)
    return Page(rows, f"{form} code{state}", note, rows.row_of(here.line))


def _fold(part: Stretch) -> Line:
    count = part.last - part.first + 1
    what = "constants and memory, made once" if part.folded == "made once" else part.folded
    plural = "" if count == 1 else "s"
    return line(Span(f"  … {count} line{plural} of {what}  (+ shows them)", "dim"))


def _row(rows: CodeRows, number: int) -> Line:
    session, source, here = rows.session, rows.code.source, rows.here
    ops = source.ops_of.get(number, ())
    mark = Span(NOW, "current") if number == here.line else Span(" ")
    if number != here.line and any(v in rows.marks.breakpoints for v in ops):
        mark = Span(STOP, "breakpoint")
    name, text = section(source, number), rows.code.texts[number - 1]
    code, _, comment = text.partition("  # ")
    code = code.rstrip() or text
    shown = rows.code.shown_on(number, here.stop)
    places = session.occupants(rows.form).places
    ahead = bool(ops) and all(places.get(v, 0) > session.stepper.index for v in shown)
    role = "dim" if ahead or code.lstrip().startswith("#") else role_of(session, rows.form, shown)
    head = (
        mark,
        Span(f" {number:>{rows.digits}} ", "dim"),
        Span(f"{name} ", SECTIONS.get(name, "")),
    )
    body = Span(clean(code.removeprefix("    ") if name != " " else code), role)
    names = Span(_names(rows, number, shown), "number")
    cause = comment.rpartition(" ")[2] if ops and rows.room >= ROOMY else ""
    place = Span(f"{clean(cause)}  ", "dim") if cause and not cause.startswith("%") else Span("")
    return spread(line(*head, body), line(place, names), rows.room)


def _names(rows: CodeRows, number: int, shown: Sequence[Var]) -> str:
    """Return the ops of a line as it names them: in a loop those of the round one stands in."""
    between = " … " if len(shown) == 2 and len(rows.code.own.get(number, ())) > 2 else " "
    more = f" and {len(shown) - MOST} merged" if len(shown) > MOST else ""
    return between.join(map(str, shown[:MOST])) + more
