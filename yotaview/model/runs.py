"""Two runs: which rows are the same function, and from which call on they went apart."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from yotaview.capture import Capture, Row
from yotaview.model.goto import GotoError
from yotaview.model.summary import format_number


@dataclass(frozen=True, slots=True)
class Meeting:
    """The calls of two rows that are compared, by number, and what all calls tell."""

    left: int | None
    right: int | None
    history: tuple[str, ...] = ()
    equal: bool = True


def paired_rows(left: Capture, right: Capture) -> list[tuple[int | None, int | None]]:
    """Return rows of the same function, the first with the first; None where one side has none."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for k, row in enumerate(right.rows):
        places[row.name, row.kind].append(k)
    found: list[tuple[int | None, int | None]] = []
    for k, row in enumerate(left.rows):
        theirs = places[row.name, row.kind]
        found.append((k, theirs.pop(0) if theirs else None))
    rest = sorted(k for found in places.values() for k in found)
    return [*found, *((None, k) for k in rest)]


def meeting(left: Row, right: Row, wanted: int | None = None) -> Meeting:
    """Return the call at which two rows are compared: `wanted`, or where they first differ.

    That is the first kept on both sides from there on; the last one where they do not differ.
    Raises GotoError where no call is kept on both sides.
    """
    if not left.calls or not right.calls:
        return Meeting(None, None)
    first = first_apart(left, right)
    both = sorted({c.number for c in left.calls} & {c.number for c in right.calls})
    told = _history(left, right, first)
    if wanted is not None:
        return Meeting(wanted, wanted, told, first is None)
    if not both:
        raise GotoError(f"no call of {left.name} is kept on both sides: name one with --call")
    chosen = both[-1] if first is None else next((n for n in both if n >= first), both[-1])
    if first is not None and chosen != first:
        told = (*told, f"call {first:,} is not kept on both sides: call {chosen:,} is compared")
    return Meeting(chosen, chosen, told, first is None)


def first_apart(left: Row, right: Row) -> int | None:
    """Return the first call with another value or norm of the gradient; None if there is none."""
    for ours, theirs in ((left.values, right.values), (left.norms, right.norms)):
        for k, (x, y) in enumerate(zip_longest(ours, theirs), 1):
            if not _same(x, y):
                return k
    return None


def _same(x: float | None, y: float | None) -> bool:
    return x == y or (x is not None and y is not None and math.isnan(x) and math.isnan(y))


def _history(left: Row, right: Row, first: int | None) -> tuple[str, ...]:
    if left.count == right.count == 1:
        return ()
    counts = " and ".join(dict.fromkeys((f"{left.count:,}", f"{right.count:,}")))
    if first is None:
        return (f"{counts} calls, values and norms of gradients equal",)
    told = ", ".join(
        f"{name} {_number(a, first)} → {_number(b, first)}"
        for name, a, b in (("value", left.values, right.values), ("‖∇‖", left.norms, right.norms))
        if a and b
    )
    return (f"{counts} calls, equal before call {first:,}: {told}",)


def _number(history: Sequence[float], call: int) -> str:
    return format_number(history[call - 1]) if call <= len(history) else "no such call"
