"""Checks: each goes from the values of a call to findings; one table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from yotaview.checks.buffers import check_buffers
from yotaview.checks.flow import check_flow
from yotaview.checks.gradcheck.findings import check_gradients, check_primitives
from yotaview.checks.infinity import check_infinity
from yotaview.checks.lines import line_of, raised_line
from yotaview.checks.nan import check_nan
from yotaview.checks.passes import check_passes
from yotaview.checks.shape import check_shapes
from yotaview.checks.unused import check_unused
from yotaview.model.findings import Finding
from yotaview.model.gradients import CHECK as FLOW
from yotaview.model.session import Session
from yotaview.model.unused import NO_PATH


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it does to an open call, and a line of help."""

    run: Callable[[Session], list[Finding]]
    help: str

    def __call__(self, session: Session) -> list[Finding]:
        """Return what the check finds in the open call."""
        return self.run(session)


ALL = "all"
CHECKS: dict[str, Check] = {
    "nan": Check(check_nan, "where NaN and infinity begin, why, and the cure"),
    "inf": Check(check_infinity, "every infinity that no mask removes, vanishing ones too"),
    "shape": Check(check_shapes, "(n,) with (n, 1) that broadcasts to (n, n)"),
    "gradcheck": Check(check_gradients, "every rule against differences of its own op"),
    "primitives": Check(check_primitives, "the same for your own primitives, which it runs"),
    "flow": Check(
        check_flow, "gradients that are exactly zero, below 1e-8 or above 1e8; saturated ops"
    ),
    "unused": Check(check_unused, "inputs from which no path leads to the result"),
    "buffers": Check(check_buffers, "buffers that are overwritten before their last reader"),
    "passes": Check(check_passes, "every rewrite replayed on recorded and random inputs"),
}


def chosen_checks(text: str) -> list[str]:
    """Return the names in a list with commas, each once; `all` stands for every check."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    return list(dict.fromkeys(c for n in names for c in (CHECKS if n == ALL else (n,))))


def findings_of(session: Session, names: Sequence[str]) -> list[Finding]:
    """Return what some checks find in the open call, each thing once."""
    found = [f for name in names for f in CHECKS[name](session)]
    cut = "unused" in names  # an alarm there, so no note of the flow besides
    return [f for f in found if not (cut and f.check == FLOW and f.cause == NO_PATH)]


__all__ = [
    "ALL",
    "CHECKS",
    "Check",
    "Finding",
    "check_buffers",
    "check_nan",
    "check_passes",
    "chosen_checks",
    "findings_of",
    "line_of",
    "raised_line",
]
