"""Checks: each goes from the values of a call to findings."""

from collections.abc import Callable

from yotaview.checks.buffers import check_buffers
from yotaview.checks.nan import check_nan, line_of
from yotaview.model.findings import Finding
from yotaview.model.session import Session

CHECKS: dict[str, Callable[[Session], list[Finding]]] = {
    "nan": check_nan,
    "buffers": check_buffers,
}

__all__ = ["CHECKS", "Finding", "check_buffers", "check_nan", "line_of"]
