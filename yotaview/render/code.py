"""The generated code with the position in it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from yotaview.render.buffers import places_of, role_of
from yotaview.render.line import Line, Page, Span, clean, line, spread
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, STOP, Marks

if TYPE_CHECKING:
    from yota.codegen import Source
    from yotaview.model.session import Session

NOT_RUN = "not run: grad ran the trace"
SECTIONS = {"P": "note", "B": "forward", "E": "reverse"}


def section(source: Source, number: int) -> str:
    """Return the section of a line, P, B or E; a blank outside of them."""
    for name, lines in (("P", source.prologue), ("B", source.body), ("E", source.epilogue)):
        if number in lines:
            return name
    return " "


class CodeRows(Rows):
    """The lines of generated code, each drawn when it is asked for."""

    def __init__(self, session: Session, source: Source, marks: Marks, at: int, room: int) -> None:
        super().__init__(session)
        self.source, self.marks, self.at, self.room = source, marks, at, room
        self.texts = split(source)
        self.digits = len(str(len(self.texts)))

    def __len__(self) -> int:
        return len(self.texts)

    def row(self, index: int) -> Line:
        """Draw one line of the code."""
        return _row(self, index + 1, self.texts[index])


@lru_cache(maxsize=4)
def _split(text: str) -> tuple[str, ...]:
    return tuple(text.rstrip("\n").split("\n"))


def split(source: Source) -> tuple[str, ...]:
    """Return the lines of generated code."""
    return _split(source.text)


def code_page(session: Session, source: Source, marks: Marks, at: int, width: int) -> Page:
    """Return the source with the line `at` marked, and at the right which op a line computes."""
    why = session.program.why_retraced
    state = f" · {NOT_RUN}: {why}" if why else ""
    note = "P prologue · B body · E epilogue" if width >= 78 else "P · B · E"
    return Page(
        CodeRows(session, source, marks, at, width), f"{source.form} code{state}", note, at - 1
    )


def _row(rows: CodeRows, number: int, text: str) -> Line:
    session, source = rows.session, rows.source
    ops = source.ops_of.get(number, ())
    mark = Span(NOW, "current") if number == rows.at else Span(" ")
    if any(v in rows.marks.breakpoints for v in ops) and number != rows.at:
        mark = Span(STOP, "breakpoint")
    name = section(source, number)
    code = text.partition("  # ")[0].rstrip() or text
    places = places_of(session, session.program.plan(source.form))
    ahead = bool(ops) and all(places.get(v, 0) > session.stepper.index for v in ops)
    role = "dim" if ahead or code.lstrip().startswith("#") else role_of(session, source.form, ops)
    head = (
        mark,
        Span(f" {number:>{rows.digits}} ", "dim"),
        Span(f"{name} ", SECTIONS.get(name, "")),
    )
    body = Span(clean(code.removeprefix("    ") if name != " " else code), role)
    return spread(line(*head, body), line(Span(" ".join(map(str, ops)), "number")), rows.room)
