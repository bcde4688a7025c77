"""What one keeps an eye on: an op with its cotangent, a buffer, or an expression over ops."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from yota.tape import Tape, Var
from yotaview.model.breaks import number_of
from yotaview.model.expressions import Expression, ExpressionError, read_expression
from yotaview.model.values import AHEAD, check_names, named_ops, op_lookup

if TYPE_CHECKING:
    from yotaview.model.opened import Opened

WATCHED = "%7, δ%7 (or d%7), B0 or np.ptp(%7)"
Kind = Literal["op", "cotangent", "buffer", "expression"]


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched, as written."""

    text: str
    kind: Kind
    var: Var | None = None
    expression: Expression | None = None
    form: str = "lean"

    @property
    def buffer(self) -> str:
        """The name of the buffer that is watched, '' where none is."""
        return self.text.removeprefix("bound:") if self.kind == "buffer" else ""


@dataclass(frozen=True, slots=True)
class Change:
    """A position at which what is watched changes, and how."""

    index: int
    text: str


def parse_watch(text: str, opened: Opened) -> Watch:
    """Read `%7`, `δ%7`, `W1`, `B0` or an expression; raises ExpressionError, which says how."""
    text = " ".join(text.split())
    if (watch := buffer_watch(text)) is not None:
        _check_buffer(watch, opened)
        return watch
    return value_watch(text, opened.tape)


def value_watch(text: str, tape: Tape) -> Watch:
    """Read a watch that names no buffer; raises ExpressionError."""
    named = named_ops(tape)
    expression = read_expression(text)
    if "x" in expression.names and "x" not in named:
        raise ExpressionError(
            f"x is another op at each position: watch {WATCHED}; a breakpoint expr:{text} stops on"
            " every op where it holds"
        )
    if not expression.names:
        raise ExpressionError(f"{text} never changes: watch {WATCHED}")
    check_names(expression.names, tape)
    if re.fullmatch(r"[δd]?%\d+|[^\W\d]\w*", text):
        name = expression.names[0]
        var = named.get(name) or number_of(name)
        return Watch(name, "cotangent" if name.startswith("δ") else "op", var)
    return Watch(text, "expression", expression=expression)


def buffer_watch(text: str) -> Watch | None:
    """Read a watch of a buffer; None where the text names none."""
    match = re.fullmatch(r"(bound:)?B\d{1,9}", text)
    if match is None:
        return None
    return Watch(text, "buffer", form="bound" if match[1] is not None else "lean")


def _check_buffer(watch: Watch, opened: Opened) -> None:
    if opened.row.failure is not None:
        raise ExpressionError("the function raised before it had code: there are no buffers")
    names = [b.name for b in opened.program.plan(watch.form).buffers]
    if watch.buffer not in names:
        there = f"{names[0]} to {names[-1]}" if names else "none: its values are scalars or views"
        raise ExpressionError(f"no buffer {watch.text}; there are: {there}")


def changes(opened: Opened, watch: Watch) -> tuple[Change, ...]:
    """Return where what is watched is computed, overwritten, or gains a term; kept."""
    key = ("changes", watch.text)
    found: tuple[Change, ...] | None = opened.memo.get(key)
    if found is None:
        found = opened.memo[key] = tuple(_changes(opened, watch))
    return found


def _changes(opened: Opened, watch: Watch) -> list[Change]:
    match watch.kind:
        case "buffer":
            return _occupied(opened, watch)
        case "expression":
            assert watch.expression is not None
            return _recomputed(opened, watch.expression)
        case "cotangent":
            assert watch.var is not None
            return cotangent_changes(opened, watch.var)
    assert watch.var is not None
    own = Change(opened.positions[watch.var], f"{watch.var} computed")
    return [own, *cotangent_changes(opened, watch.var)]


def cotangent_changes(opened: Opened, primal: Var) -> list[Change]:
    """Return where the cotangent of an op gains each of its terms."""
    terms = opened.terms.get(primal, ())
    return [
        Change(opened.positions[t.total], f"δ{primal}: {k} of {len(terms)} {noun(len(terms))}")
        for k, t in enumerate(terms, 1)
    ]


def noun(count: int) -> str:
    """Return the word for contributions, in the number of how many there are."""
    return "contribution" if count == 1 else "contributions"


def _recomputed(opened: Opened, expression: Expression) -> list[Change]:
    """Return where an expression has its first value, and each further one of a cotangent's."""
    every: list[list[Change]] = []
    for name in expression.names:
        var = opened.named.get(name) or number_of(name)
        assert var is not None
        if name.startswith("δ"):
            every.append(cotangent_changes(opened, var))
        else:
            every.append([Change(opened.positions[var], f"{var} computed")])
    first = max(points[0].index for points in every)
    found = {c.index: c for points in every for c in points if c.index >= first}
    return [found[k] for k in sorted(found)]


def occupants(opened: Opened, watch: Watch) -> list[tuple[int, Var]]:
    """Return the ops that a buffer holds in turn, each with its position on the recorded tape."""
    key = ("occupants", watch.text)
    if key not in opened.memo:
        opened.memo[key] = _occupants(opened, watch)
    known: list[tuple[int, Var]] = opened.memo[key]
    return known


def _occupants(opened: Opened, watch: Watch) -> list[tuple[int, Var]]:
    known = opened.occupants(watch.form)
    found = (k for k, b in enumerate(known.plan.buffers) if b.name == watch.buffer)
    k = next(found, None)
    return [] if k is None else sorted((known.places[v], v) for v in known.written_by(k))


def _occupied(opened: Opened, watch: Watch) -> list[Change]:
    found: dict[int, Change] = {}
    for k, (index, var) in enumerate(occupants(opened, watch)):
        how = "overwritten by" if k else "first holds"
        found[index] = Change(index, f"{watch.text} {how} {var}")
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Reading:
    """The value of what is watched at a position, or why there is none; `note` says of which op."""

    value: Any = None
    problem: str = ""
    note: str = ""


def read_watch(opened: Opened, watch: Watch, upto: int) -> Reading:
    """Return what a watch shows at a position: nothing of what lies ahead."""
    try:
        match watch.kind:
            case "buffer":
                return _held(opened, watch, upto)
            case "expression":
                assert watch.expression is not None
                return Reading(watch.expression.compute(op_lookup(opened, None, upto)))
        name = f"{'δ' if watch.kind == 'cotangent' else ''}{watch.var}"
        value = op_lookup(opened, None, upto)(name)
    except ExpressionError as error:  # what lies ahead among them
        return Reading(problem=str(error))
    note = gathered(opened, watch.var, upto) if watch.kind == "cotangent" else ""
    return Reading(value, note=note)


def gathered(opened: Opened, primal: Var | None, upto: int) -> str:
    """Say how many of its terms a cotangent has at a position, as `1 of 2 contributions`."""
    terms = opened.terms.get(primal, ()) if primal is not None else ()
    have = sum(opened.positions[t.total] <= upto for t in terms)
    return f"{have} of {len(terms)} {noun(len(terms))}" if terms else ""


def _held(opened: Opened, watch: Watch, upto: int) -> Reading:
    found = occupants(opened, watch)
    at = bisect_right([index for index, _ in found], upto)
    if not at:
        return Reading(problem=f"nothing yet (op {found[0][0] + 1})" if found else "nothing")
    var = found[at - 1][1]
    if var not in opened.values:
        return Reading(
            problem=opened.problems.get(var, "made by a pass, not recorded"), note=f"holds {var}"
        )
    return Reading(opened.values[var], note=f"holds {var}")


__all__ = ["AHEAD", "Change", "Reading", "Watch", "changes", "parse_watch", "read_watch"]
