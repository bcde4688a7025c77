"""The text of a lesson, in the width of the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from yotaview.lessons import next_lesson
from yotaview.render.line import Line, Page, Span, clean, line, wrap_line
from yotaview.render.tapes import output_page

if TYPE_CHECKING:
    from yotaview.capture import Capture

ITEM = re.compile(r"\d+\. ")
COLUMNS = re.compile(r" +\S.* {3,}(?=\S)")


def lesson_page(capture: Capture, width: int) -> Page:
    """Return the lesson, what its script printed, where it stands and which is the next."""
    rows = [part for row in _paragraphs(capture.lesson) for part in _broken(row, width)]
    rows += [(), line(Span("The script printed:", "dim")), *output_page(capture, width).lines, ()]
    rows += wrap_line(line(Span("this lesson  ", "dim"), clean(capture.script)), width, 13)
    following = next_lesson(capture.script)
    if following is not None:
        rows.append(line(Span("the next one ", "dim"), f"yotaview --lesson={following}"))
    return Page(rows, "Lesson", "PgDn reads on · enter closes · O opens")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield a paragraph or blank line at a time; indented lines and list items stay apart."""
    joined = ""
    for row in text.splitlines():
        apart = not row.strip() or row.startswith(" ") or ITEM.match(row) is not None
        if joined and apart:
            yield joined
            joined = ""
        if apart:
            yield row
        else:
            joined = f"{joined} {row}".strip()
    if joined:
        yield joined


def _broken(text: str, width: int) -> list[Line]:
    item = ITEM.match(text) or COLUMNS.match(text)
    indent = item.end() if item else len(text) - len(text.lstrip(" "))
    return wrap_line(line(clean(text)), width, indent) if text.strip() else [()]
