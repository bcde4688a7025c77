"""A call as one page of HTML that needs nothing else: each step with its value, and the graph."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import yota
from yotaview.render.line import Line, Span, clean, line
from yotaview.render.source import why_page
from yotaview.render.svg import LayoutError, Stopped, tape_svg
from yotaview.render.tapes import heading
from yotaview.render.text import (
    NOW,
    Marks,
    OpRows,
    brief,
    describe,
    facts_of,
    failure_text,
    has_value,
    phase_of,
)
from yotaview.render.value import page as value_page

if TYPE_CHECKING:
    from yotaview.model.session import Session

ASSETS = Path(__file__).resolve().parent.parent / "assets"
MOST_STEPS, MOST_TEXT = 1_000, 8 << 20
ROW, WIDE, HIGH, EXPLAINED = 60, 76, 18, 14


@dataclass(frozen=True, slots=True)
class Frame:
    """A step of the page: its row in the tape, and what is shown when it is the current one."""

    row: str
    body: str

    @property
    def size(self) -> int:
        """How many characters it takes."""
        return len(self.row) + len(self.body)


def replay_page(session: Session, direction: str = "TB") -> str:
    """Return the page of the open call, the same text each time.

    Of a long tape it holds the steps around the position, and says how many there are.
    """
    first, frames = frames_of(session)
    drawing, trouble = _graph(session, direction)
    script = _asset("replay.js")
    notes = [*_shown(session, first, len(frames)), *trouble]
    return Template(_asset("replay.html")).substitute(
        title=_text(f"{session.capture.name}: {session.row.name}"),
        heading=_text(f"{session.capture.name} › {session.row.name}"),
        about=_line(heading(session)),
        notes="\n".join(f"<p>{_text(note)}</p>" for note in notes),
        rows="\n".join(f.row for f in frames),
        frames="\n".join(f.body for f in frames),
        graph=drawing,
        footer=_text(f"yotaview {yota.__version__}; this file needs no network and no install"),
        script=script,
        script_hash=_hash(script),
    )


def frames_of(session: Session) -> tuple[int, list[Frame]]:
    """Return the steps around the position within the limits, and the index of the first."""
    total, here = len(session.stepper), session.stepper.index
    first = max(0, min(here - MOST_STEPS // 2, total - MOST_STEPS))
    found: list[Frame] = []
    size = 0
    for frame in _frames(session, range(first, min(first + MOST_STEPS, total)), here):
        size += frame.size
        if size > MOST_TEXT and found:
            break
        found.append(frame)
    return first, found


def _frames(session: Session, indices: Iterable[int], here: int) -> Iterator[Frame]:
    step = session.still()
    step.stepper = session.stepper.last()
    marks = Marks(alarms=frozenset(a.var for a in session.alarms))
    rows = OpRows(step, marks, ROW)
    for index in indices:
        step = session.still()
        step.stepper = session.stepper.to(index)
        glyphs = [] if step.failed_here else marks.glyphs(step, step.at)
        glyph = next((g for g in glyphs if g.text != NOW), Span(" "))
        yield _frame(step, line(glyph, " ", rows[index][2:]), first=index == here)


def _frame(session: Session, row: Line, *, first: bool) -> Frame:
    index, total = session.stepper.index, len(session.stepper.order)
    number = f"t{index + 1}"
    if session.failed_here:
        own, named = "raised", f"✗ {failure_text(session)}"
        said = f"this raised: {session.row.failure.error if session.row.failure else ''}"
    else:
        if has_value(session, session.at):
            facts_of(session, session.at)  # the page tells all of a large value, not a sample
        own = f"op-{session.at.id}"
        named = f"{session.at} {describe(session.op)}"
        said = f"{phase_of(session.tape, session.at)}, {brief(session, session.at)}"
    place = "raised" if session.failed_here else f"op {index + 1}/{total}"
    mark = ' data-first=""' if first else ""
    value = value_page(session, "grid", None, WIDE, HIGH)
    why = why_page(session, WIDE, EXPLAINED)
    body = (
        f'<article id="{number}" data-place="{_text(place)}"{mark}'
        f' data-said="{_text(f"{place}, {named}: {said}")}" aria-label="{_text(place)}">\n'
        f"<h2>{_text(place)} · {_text(named)}</h2>\n<p>{_text(said)}</p>\n"
        f"{_pre(value.title, value.lines)}\n{_pre(why.title, why.lines)}\n</article>"
    )
    return Frame(f'<li id="{own}"><a href="#{number}">{_line(row)}</a></li>', body)


def _pre(title: str, lines: Iterable[Line]) -> str:
    return f'<pre aria-label="{_text(title)}">{chr(10).join(map(_line, lines))}</pre>'


def _line(row: Line) -> str:
    return "".join(
        f'<span class="{span.role}">{_text(span.text)}</span>'
        if span.role and not span.text.isspace()
        else _text(span.text)
        for span in row
    )


def _text(text: str) -> str:
    """Return text that no reader of HTML takes for anything else, within attributes too."""
    return escape(clean(text), quote=True)


def _shown(session: Session, first: int, count: int) -> list[str]:
    total = len(session.stepper)
    told = []
    branch = getattr(session.opened, "branch", None)
    if branch is not None:
        told.append(f"a what-if, not what was recorded: {branch.text}")
    if count < total:
        told.append(f"{count:,} of {total:,} steps shown: {first + 1:,} to {first + count:,}")
    return told


def _graph(session: Session, direction: str) -> tuple[str, list[str]]:
    """Return the drawing of the tape, or the reason why there is none."""
    try:
        svg = tape_svg(session.tape, direction=direction)
    except Stopped:
        raise
    except LayoutError as error:
        return "", [f"no drawing of the tape: {error}"]
    drawn = re.sub(r'id="(?=ops?-\d)', 'id="drawn-', svg[svg.index("<svg") :])
    drawn = re.sub(r"<!--.*?-->\n?", "", drawn, flags=re.S)
    box = f'<div class="drawn" tabindex="0" role="group" aria-label="Drawing">\n{drawn}</div>'
    return f'<section class="graph" aria-label="Graph">\n<h2>Graph</h2>\n{box}\n</section>', []


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"sha256-{digest}"


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
