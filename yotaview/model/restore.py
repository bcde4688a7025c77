"""Set on a run what was set on another one: each on what it is, whatever its number is now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.capture import Row
from yotaview.model.breaks import BreakError, parse_break
from yotaview.model.edits import EditError, read_edit
from yotaview.model.expressions import ExpressionError, renumbered
from yotaview.model.kept import (
    Kept,
    KeptBreak,
    KeptFork,
    KeptMark,
    KeptWatch,
    Lost,
    Written,
    file_of,
)
from yotaview.model.opened import SavedRow
from yotaview.model.places import LONGEST, Ground, OpPlace, RowPlace
from yotaview.model.session import Place, Session
from yotaview.model.stops import Breakpoint, Watching
from yotaview.model.values import check_names
from yotaview.model.watches import Watch, buffer_watch, value_watch
from yotaview.model.whatif import Planned

if TYPE_CHECKING:
    from yotaview.model.edits import Edit

GONE = "no such op any more"


class Nowhere(Exception):
    """What was set means nothing on this run; the text says why."""


def set_again(session: Session, kept: Iterable[Kept], ground: Ground) -> list[str]:
    """Set marks, breakpoints, watches and what-ifs again; return what is not as it was, in words.

    What means nothing here is kept in `session.lost`, for a run on which it does.
    """
    told: list[str] = []
    setting = _Setting(session, ground, told)
    for one in kept:
        try:
            setting.set(one)
        except Nowhere as error:
            session.lost.append(Lost(one, str(error)))
            told.append(session.lost[-1].told)
    setting.show()
    return told


class _Setting:
    """Finds what something was set on."""

    def __init__(self, session: Session, ground: Ground, told: list[str]) -> None:
        self.session, self.ground, self.told = session, ground, told
        self.rows = session.capture.rows
        self.shown: KeptFork | None = None

    def set(self, kept: Kept) -> None:
        """Set it; raises Nowhere."""
        match kept:
            case KeptMark():
                self.mark(kept)
            case KeptBreak():
                self.session.stops.put(self.breakpoint(kept))
            case KeptWatch():
                row = self.row(kept.row)
                watch = self.watch(kept, row)
                self.session.stops.put(Watching(watch, row, kept.enabled))
            case KeptFork():
                self.fork(kept)

    def mark(self, kept: KeptMark) -> None:
        row = self.row(kept.row)
        call = self.call(kept, row, kept.call)
        index = len(self.rows[row].tape)
        if kept.at is not None:
            index = self.ground.names(row).positions[self.op(row, kept.at)]
        elif self.rows[row].failure is None:
            raise Nowhere("nothing raised in this run")
        self.session.marks[kept.letter] = Place(row, call, index, kept.todo)

    def breakpoint(self, kept: KeptBreak) -> Breakpoint:
        row = None if kept.row is None else self.row(kept.row)
        text = kept.what.text if row is None else self.text(kept.what, row)
        try:
            test = parse_break(text)
            if test.is_local and row is None:
                raise Nowhere("it names an op, but no tape")
            if row is not None:
                check_names(test.names, self.rows[row].tape)
            if test.where.kind == "number" and row is not None:
                self.check_number(row, test.where.number)
            if test.where.kind == "line" and kept.line:
                test = parse_break(self.moved(kept, text, test.where.name, test.where.number))
        except (BreakError, ExpressionError) as error:
            raise Nowhere(_short(error)) from error
        return Breakpoint(test, row, kept.enabled)

    def check_number(self, row: int, number: int) -> None:
        """Raise Nowhere for an op that is not on the tape of a row."""
        if Var(number) not in self.rows[row].tape:
            raise Nowhere(GONE)

    def moved(self, kept: KeptBreak, text: str, name: str, number: int) -> str:
        """Return a breakpoint on a line where that line stands now."""
        capture = self.session.capture
        file = file_of(name, capture.sources, capture.script)
        near = find_line(capture.sources.get(file, ()), number, kept.line)
        if near is None:
            was = f" ({kept.line[0]})" if kept.line[0] else ""
            raise Nowhere(f"no such line any more{was}")
        if near == number:
            return text
        self.told.append(f"{kept.told}: line {near} now")
        where, word, when = text.partition(" if ")
        return f"{where.removesuffix(str(number))}{near}{word}{when}"

    def watch(self, kept: KeptWatch, row: int) -> Watch:
        """Return what was watched; a buffer is the one that the same op is computed into."""
        found = buffer_watch(kept.what.text)
        if found is not None:
            return self.buffer(kept, found, row)
        try:
            return value_watch(self.text(kept.what, row), self.rows[row].tape)
        except ExpressionError as error:
            raise Nowhere(_short(error)) from error

    def buffer(self, kept: KeptWatch, watch: Watch, row: int) -> Watch:
        there: Row = self.rows[row]
        if there.failure is not None or there.program is None:
            raise Nowhere("no buffers: the function raised")
        if isinstance(there, SavedRow) or not kept.what.ops:
            return watch  # the code of a file is what it was
        found = there.program.plan(watch.form).buffer(self.op(row, kept.what.ops[0]))
        if found is None:
            raise Nowhere(f"{kept.what.ops[0].told} has no buffer any more")
        return replace(watch, text=watch.text.removesuffix(watch.buffer) + found.name)

    def fork(self, kept: KeptFork) -> None:
        row = self.row(kept.row)
        call = self.call(kept, row, kept.call)
        try:
            edits = tuple(self.edit(e, row) for e in kept.edits)
        except EditError as error:
            raise Nowhere(_short(error)) from error
        if not self.session.branches.plan((row, call), Planned(kept.number, edits)):
            raise Nowhere("another what-if has this number")
        if kept.shown and (row, call) == (self.session.row_index, self.session.call_index):
            self.shown = kept

    def edit(self, written: Written, row: int) -> Edit:
        return read_edit(self.text(written, row), self.rows[row].tape)

    def show(self) -> None:
        """Run the what-if in sight again; one that runs the user's functions waits for his word."""
        if self.shown is None:
            return
        forks = self.session.forks
        try:
            forks.switch(self.shown.number)
        except EditError as error:
            self.told.append(f"{self.shown.told} is not in sight: {error}")
        self.session.opened = forks.opened()

    def text(self, written: Written, row: int) -> str:
        """Return what was written with the numbers that the same ops have here."""
        return renumbered(written.text, {p.number: self.op(row, p).id for p in written.ops})

    def row(self, place: RowPlace) -> int:
        found = self.ground.find_row(place)
        if found is None:
            raise Nowhere(f"no such tape of {place.name} any more")
        return found

    def op(self, row: int, place: OpPlace) -> Var:
        found = self.ground.names(row).find(place)
        if found is None:
            raise Nowhere(f"{GONE} ({place.told})")
        return found

    def call(self, kept: KeptMark | KeptFork, row: int, number: int | None) -> int:
        """Return the index of a kept call, of the nearest one where it is not kept."""
        index = self.ground.near_call(row, number)
        found = self.ground.number_of(row, index)
        if found != number and number is not None:
            self.told.append(f"{kept.told}: call {number} is not kept in this run: call {found}")
        return index


def find_line(lines: Sequence[str], number: int, was: Sequence[str]) -> int | None:
    """Return where a line stands now: with the same text, else between the same two; the nearest.

    `was` is its text, and those of the lines above and below.
    """
    plain = ["", *(text.strip()[:LONGEST] for text in lines), ""]
    every = range(1, len(plain) - 1)
    here = [plain[k] if k in every else "" for k in (number, number - 1, number + 1)]
    if here == list(was):
        return number
    same = [k for k in every if was[0] and plain[k] == was[0]]
    if not same and was[1] and was[2]:
        same = [k for k in every if (plain[k - 1], plain[k + 1]) == (was[1], was[2])]
    return min(same, key=lambda k: abs(k - number), default=None)


def _short(error: Exception) -> str:
    """Return what went wrong without what could be written instead."""
    return str(error).partition(": ")[0].partition("; ")[0]
