"""A diff as JSON lines: the outcome, then an op that differs a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yota.tape import Call, Var
from yotaview.model.diff import Change, Diff, Side
from yotaview.render.json import FORMAT, dump, number


def diff_json(diff: Diff) -> Iterator[str]:
    """Yield the lines of a diff."""
    yield dump(_outcome(diff))
    yield from (dump(_change(diff, c)) for c in diff.changes if c.differs)


def _outcome(diff: Diff) -> dict[str, Any]:
    return {
        "v": FORMAT,
        "diff": [diff.left.title, diff.right.title],
        "equal": diff.equal,
        "structure": diff.same_structure,
        "ops": [len(diff.left.tape), len(diff.right.tape)],
        **diff.counts,
        "calls": list(diff.history),
        "first": _change(diff, diff.first) if diff.first else None,
        "first_large": _change(diff, diff.first_large) if diff.first_large else None,
        "gradients": [
            {
                "name": r.name,
                "norm": [number(r.left), number(r.right)],
                "relative": number(r.relative),
            }
            for r in diff.ratios
        ],
    }


def _change(diff: Diff, change: Change) -> dict[str, Any]:
    worst = change.delta.worst if change.delta else None
    sides = ((diff.left, change.left), (diff.right, change.right))
    return {
        "v": FORMAT,
        "kind": change.kind if change.kind != "same" else "value",
        "id": [v.id if v is not None else None for _, v in sides],
        "fn": [_fn(s, v) for s, v in sides],
        "loc": [s.tape[v].origin.place if v is not None else None for s, v in sides],
        "source": [s.text_of(s.tape[v]) if v is not None else None for s, v in sides],
        "what": list(change.what),
        "ulp": number(worst.ulp) if worst else None,
        "index": list(worst.index) if worst else None,
        "relative": number(change.delta.relative) if change.delta else None,
    }


def _fn(side: Side, var: Var | None) -> str | None:
    op = side.tape[var] if var is not None else None
    return op.name if isinstance(op, Call) else None
