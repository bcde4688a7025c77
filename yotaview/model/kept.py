"""What the user set on a run, in words that outlive it: marks, breakpoints, watches, what-ifs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yota.tape import Var, base_name
from yotaview.model.breaks import Break
from yotaview.model.expressions import op_numbers
from yotaview.model.occupants import Occupants
from yotaview.model.opened import SavedRow
from yotaview.model.places import Ground, Names, OpPlace, RowPlace, line_text
from yotaview.model.stops import Breakpoint, Watching
from yotaview.model.watches import Watch
from yotaview.model.why.spec import is_numbered

if TYPE_CHECKING:
    from yotaview.capture import Row
    from yotaview.model.session import Session
    from yotaview.model.whatif import Branch, Planned


@dataclass(frozen=True, slots=True)
class Written:
    """What the user wrote, with the op of each number that stands in it."""

    text: str
    ops: tuple[OpPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptMark:
    """A mark: a letter, a call, an op; none where it stands on what raised."""

    letter: str
    row: RowPlace
    call: int | None
    at: OpPlace | None
    todo: int = 0

    @property
    def told(self) -> str:
        """What it is called."""
        return f"mark {self.letter}"


@dataclass(frozen=True, slots=True)
class KeptBreak:
    """A breakpoint: one of a line with its text and those beside it, one of a row with that row."""

    what: Written
    row: RowPlace | None = None
    enabled: bool = True
    line: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What it is called."""
        return f"breakpoint {self.what.text}"


@dataclass(frozen=True, slots=True)
class KeptWatch:
    """A watch; the op of one that names a buffer is the first that the buffer holds."""

    what: Written
    row: RowPlace
    enabled: bool = True

    @property
    def told(self) -> str:
        """What it is called."""
        return f"watch {self.what.text}"


@dataclass(frozen=True, slots=True)
class KeptFork:
    """A what-if of a call, by its edits; `shown` where it is in sight."""

    row: RowPlace
    call: int | None
    number: int
    edits: tuple[Written, ...]
    shown: bool = False

    @property
    def told(self) -> str:
        """What it is called."""
        return f"what-if {self.number} ({'; '.join(e.text for e in self.edits)})"


Kept = KeptMark | KeptBreak | KeptWatch | KeptFork


@dataclass(frozen=True, slots=True)
class Lost:
    """What was set on another run and means nothing on this one, and why."""

    kept: Kept
    why: str

    @property
    def told(self) -> str:
        """What is lost and why, as `mark a: no such op any more (sin of y = np.sin(x))`."""
        return f"{self.kept.told}: {self.why}"


def kept_of(session: Session, ground: Ground) -> Iterator[Kept]:
    """Yield all that is set on a run, what waits for another run too."""
    for letter, place in session.marks.items():
        names = ground.names(place.row)
        order = tuple(names.tape.ops)
        at = names.place(order[place.index]) if place.index < len(order) else None
        call = ground.number_of(place.row, place.call)
        yield KeptMark(letter, ground.row_place(place.row), call, at, place.todo)
    for entry in session.stops.entries:
        if isinstance(entry, Breakpoint):
            yield _kept_break(entry, session, ground)
        else:
            yield _kept_watch(entry, session, ground)
    here = (session.row_index, session.call_index)
    for (row, call), branch in session.branches.all():
        shown = (row, call) == here and branch.number == session.forks.current
        yield _kept_fork(branch, row, ground, call, shown=shown)
    yield from (lost.kept for lost in session.lost)


def _written(text: str, names: Names) -> Written:
    numbers = (n for n in op_numbers(text) if is_numbered(names.tape, n))
    vars_ = map(names.tape.survivor, map(Var, numbers))
    return Written(text, tuple(names.place(v) for v in vars_ if v is not None and v in names.tape))


def _kept_break(entry: Breakpoint, session: Session, ground: Ground) -> KeptBreak:
    text = _with_sign(entry.text) if entry.test.where.kind == "number" else entry.text
    line = _line_of(entry.test, session)
    if entry.row is None:
        return KeptBreak(Written(text), None, entry.enabled, line)
    what = _written(text, ground.names(entry.row))
    return KeptBreak(what, ground.row_place(entry.row), entry.enabled, line)


def _line_of(test: Break, session: Session) -> tuple[str, ...]:
    """Return the text of the line that a breakpoint names, and of those above and below."""
    capture, where = session.capture, test.where
    file = file_of(where.name, capture.sources, capture.script)
    if where.kind != "line" or file not in capture.sources:
        return ()
    around = (where.number, where.number - 1, where.number + 1)
    return tuple(line_text(capture.sources, file, k) for k in around)


def file_of(name: str, files: Iterable[str], script: str) -> str:
    """Return the file that a breakpoint means: the script where it names none."""
    if not name:
        return script
    return next((f for f in files if name in (f, base_name(f))), name)


def _kept_watch(entry: Watching, session: Session, ground: Ground) -> KeptWatch:
    names, row = ground.names(entry.row), ground.row_place(entry.row)
    if entry.watch.kind != "buffer":
        return KeptWatch(_written(entry.text, names), row, entry.enabled)
    first = _first_held(session.capture.rows[entry.row], entry.watch, names)
    what = Written(entry.text, () if first is None else (names.place(first),))
    return KeptWatch(what, row, entry.enabled)


def _first_held(row: Row, watch: Watch, names: Names) -> Var | None:
    """Return the first recorded op that a buffer holds; that of a file keeps its name anyhow."""
    if isinstance(row, SavedRow) or row.program is None:
        return None
    code, plan = row.program.tape_of(watch.form), row.program.plan(watch.form)
    found = Occupants(code, plan, names.positions)
    held = (v for k, b in enumerate(plan.buffers) if b.name == watch.buffer
            for v in found.written_by(k))  # fmt: skip
    return next((v for v in held if v in names.tape), None)


def _kept_fork(
    branch: Branch | Planned, row: int, ground: Ground, call: int, *, shown: bool
) -> KeptFork:
    names = ground.names(row)
    edits = tuple(_written(_with_sign(e.text), names) for e in branch.edits)
    number = ground.number_of(row, call)
    return KeptFork(ground.row_place(row), number, branch.number, edits, shown)


def _with_sign(text: str) -> str:
    """Return a text that begins with an op's number with the sign of one."""
    return re.sub(r"^\s*([∂δd]?)\s*(\d)", r"\1%\2", text)
