"""All that is set on a run in one list: breakpoints, watches, marks, what-ifs, and what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yotaview.model.kept import Lost
from yotaview.model.session import Place
from yotaview.model.stops import Breakpoint, Entry, Watching
from yotaview.model.whatif import Branch, Planned

if TYPE_CHECKING:
    from yotaview.model.session import Session


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark and where it stands."""

    letter: str
    place: Place


@dataclass(frozen=True, slots=True)
class Forked:
    """A what-if with the indices of its row and call."""

    row: int
    call: int
    branch: Branch | Planned


Item = Entry | Marked | Forked | Lost


def items_of(session: Session) -> list[Item]:
    """Return all that is set; of the stops those of the open row first."""
    here = session.stops.of(session.row_index)
    marks = session.marks
    return [
        *here,
        *(e for e in session.stops.entries if e not in here),
        *(Marked(letter, marks[letter]) for letter in sorted(marks)),
        *(Forked(*key, branch) for key, branch in session.branches.all()),
        *session.lost,
    ]


def remove(session: Session, item: Item) -> None:
    """Take something away that was set; a what-if in sight gives way to what was recorded."""
    match item:
        case Marked():
            del session.marks[item.letter]
        case Forked():
            session.branches.drop((item.row, item.call), item.branch.number)
            if (item.row, item.call) == (session.row_index, session.call_index):
                session.opened = session.forks.opened()
        case Lost():
            session.lost.remove(item)
        case Breakpoint() | Watching():
            session.stops.remove(item)
