"""One op over the kept calls of its row: the facts of its value in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.model.opened import Opened
from yotaview.model.summary import Summary, quick_summary

if TYPE_CHECKING:
    from yotaview.model.session import Session

# ops that are replayed while one waits
QUICK = 20_000


def over_calls(session: Session, var: Var) -> list[tuple[int, Summary | None]]:
    """Return each kept call by number with the facts of the op's value, None where it has none."""
    found: list[tuple[int, Summary | None]] = []
    for k, call in enumerate(session.row.calls):
        opened = session.opened if k == session.call_index else Opened(session.row, call)
        value = opened.values.get(var)
        found.append((call.number, None if var not in opened.values else quick_summary(value)))
    return found


def is_quick(session: Session) -> bool:
    """Tell whether replaying every kept call is not felt."""
    return len(session.tape) * len(session.row.calls) <= QUICK
