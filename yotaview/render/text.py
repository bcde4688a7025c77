"""Ops as lines: the list of the Step view and the text that `--text` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yota.tape import Call, Constant, Input, Op, Tape, Var, format_call
from yotaview.model.forms import Opaque
from yotaview.model.summary import Summary, format_number, quick_summary, single, summarise
from yotaview.render.line import Line, Span, cells, clean, cut, fit, line
from yotaview.render.once import known, once
from yotaview.render.rows import Rows

if TYPE_CHECKING:
    from yotaview.model.session import Session

NOW, STOP, SAME, AHEAD, SEED, ALERT, RAISED, WATCH = "▶●≡·◆!✗◎"
RIGHT, WRONG = "✓✗"
WIDE = 100


@dataclass(frozen=True)
class Marks:
    """Which ops carry a glyph in every list."""

    breakpoints: frozenset[Var] = frozenset()
    merged: frozenset[Var] = frozenset()
    alarms: frozenset[Var] = frozenset()
    checked: Mapping[Var, bool] = field(default_factory=dict)
    watched: frozenset[Var] = frozenset()
    letters: tuple[tuple[int, str], ...] = ()

    def wrong(self, session: Session) -> list[Var]:
        """Return the ops of the user's whose rule is off."""
        return sorted(
            v for v, ok in self.checked.items() if not ok and not session.tape.is_reverse(v)
        )

    def glyphs(self, session: Session, var: Var) -> list[Span]:
        """Return the marks of an op, the most urgent first."""
        found = [
            (var == session.at and not session.failed_here, Span(NOW, "current")),
            (var in self.breakpoints, Span(STOP, "breakpoint")),
            (var in self.alarms, Span(ALERT, "alert")),
            (self.checked.get(var) is False, Span(WRONG, "alert")),
            (var in self.watched, Span(WATCH, "note")),
            (var == session.tape.seed, Span(SEED, "seed")),
            (var in self.merged, Span(SAME, "note")),
            (self.checked.get(var) is True and session.is_known(var), Span(RIGHT, "ok")),
        ]
        return [span for holds, span in found if holds]


def describe(op: Op) -> str:
    """Return an op without its number: `inp W1`, `const X`, `tanh(%7)`."""
    match op:
        case Input():
            return clean(f"inp {op.name}")
        case Constant():
            return clean(f"const {op.name or _literal(op)}")
        case Call():
            return clean(format_call(op))
    return ""


def _literal(op: Constant) -> str:
    if isinstance(op.value, Opaque):
        return str(op.value)
    return format_number(op.value) if op.spec.kind in ("python", "scalar") else "array"


def phase_of(tape: Tape, var: Var) -> str:
    """Return the role of an op's colour: input, forward, seed or reverse."""
    if var == tape.seed:
        return "seed"
    if tape.is_reverse(var):
        return "reverse"
    return "forward" if isinstance(tape[var], Call) else "input"


def target(op: Op) -> str:
    """Return whose cotangent a reverse op belongs to, as `δ%7`."""
    if op.origin.role == "seed":
        return "seed"
    return "" if op.origin.wrt is None else f"δ{op.origin.wrt}"


def failure_text(session: Session) -> str:
    """Return the op that raised as `matmul(%4, ones(3)): (4,) @ (3,)`, empty if none did."""
    failure = session.row.failure
    return clean(failure.text) if failure is not None else ""


class OpRows(Rows):
    """The op list, a line made when it is asked for; the op that raised comes last."""

    def __init__(self, session: Session, marks: Marks, room: int, *, places: bool = False) -> None:
        super().__init__(session)
        self.marks, self.room, self.places = marks, room, places
        self.order = session.stepper.order
        self.digits = len(str(self.order[-1].id)) if self.order else 1

    def __len__(self) -> int:
        return len(self.session.stepper)

    def row(self, index: int) -> Line:
        """Draw one op."""
        return op_row(self, self.order[index]) if index < len(self.order) else raised_row(self)


def raised_row(rows: OpRows) -> Line:
    """Return the row of the op that raised, with its line."""
    session, failure = rows.session, rows.session.row.failure
    now = session.failed_here
    place = failure.place.rpartition(":")[2] if failure is not None else ""
    right = f" line {place}" if place else ""
    head = (
        Span(NOW if now else " ", "current"),
        Span(" " if now else AHEAD, "dim"),
        Span(RAISED.ljust(rows.digits + 2), "alert"),
    )
    left = rows.room - sum(cells(s.text) for s in head) - cells(right)
    body = cut(failure_text(session), left)
    return line(*head, Span(body, "alert"), " " * (left - cells(body)), Span(right, "dim"))


def op_row(rows: OpRows, var: Var) -> Line:
    """Return one op of the list: marks, number, call, type, what it differentiates."""
    session, room = rows.session, rows.room
    op = session.tape[var]
    ahead = not session.is_known(var)
    marks = rows.marks.glyphs(session, var)
    first = marks[0] if marks else Span(" ")
    second = Span(AHEAD, "dim") if ahead else marks[1] if len(marks) > 1 else Span(" ")
    number = Span(f"%{var.id}".ljust(rows.digits + 2), "dim" if ahead else "number")
    right = _right(op, room, rows.places)
    left = room - 2 - len(number.text) - cells(right)
    body = cut(describe(op), left - 1)
    role = "dim" if ahead else phase_of(session.tape, var)
    pad = " " * (left - cells(body))
    return line(first, second, number, *_call(body, role, ahead), pad, Span(right, "dim"))


def _right(op: Op, room: int, places: bool) -> str:
    spec = op.spec.text(short=True)
    if room < WIDE // 2 and op.spec.kind == "array":
        spec = spec[spec.find("[") :]
    note = cut(op.origin.place, 12).rjust(13) if places else target(op).rjust(6)
    return cut(spec, 16).rjust(min(9, room // 4)) + note


def _call(body: str, role: str, ahead: bool) -> tuple[Span, ...]:
    """Return a call with its function in the phase's colour, its operands plain."""
    name, bracket, rest = body.partition("(")
    return Span(name, role), Span(bracket + rest, "dim" if ahead else "")


def tape_lines(session: Session) -> list[Line]:
    """Return the whole tape with one summary an op, in columns that do not move.

    What raised stands in the last line.
    """
    tape = session.tape
    texts = [describe(op) for _, op in tape]
    room = min(max(map(cells, texts), default=0), 48)
    kinds = min(max((len(op.spec.text(short=True)) for _, op in tape), default=0), 16)
    number = max((len(str(v)) for v in tape.ops), default=0)
    places = max((cells(op.origin.place) for _, op in tape), default=0)
    widths = (max(number + 1, 7), room, kinds, max(places, 14))
    rows = [
        _text_row(session, var, op, text, widths)
        for (var, op), text in zip(tape, texts, strict=True)
    ]
    return [*rows, *_raised_text(session)]


def _raised_text(session: Session) -> list[Line]:
    failure = session.row.failure
    if failure is None:
        return []
    of = f"   in the derivative of {session.culprit}" if session.culprit is not None else ""
    parts = f"{failure_text(session)}   {failure.place}   {clean(failure.error)}{of}"
    return [line(Span(RAISED.ljust(7), "alert"), Span(parts, "alert"))]


def _text_row(
    session: Session, var: Var, op: Op, text: str, widths: tuple[int, int, int, int]
) -> Line:
    number, room, kinds, places = widths
    role = phase_of(session.tape, var)
    phase = "REV" if session.tape.is_reverse(var) else "FWD"
    return line(
        Span(f"%{var.id}".ljust(number), "number"),
        Span(f"{phase}  ", role),
        *fit((Span(cut(text, room)),), room),
        Span(f"  {op.spec.text(short=True)}".ljust(kinds + 2), "dim"),
        Span(f"  {op.origin.place.ljust(places)}  ", "dim"),
        Span(target(op).replace("δ", "d").ljust(8)),
        Span(brief(session, var), "alert" if not finite(session, var) else ""),
        Span(flow_text(session, var), "reverse"),
    )


def flow_text(session: Session, var: Var) -> str:
    """Return of an op that completes a cotangent whose it is, and its norm."""
    primal = session.opened.twins.get(var)
    if primal is None or not has_value(session, var) or facts_of(session, var).norm is None:
        return ""
    return f"  |d{primal}| {format_number(facts_of(session, var).norm)}"


def has_value(session: Session, var: Var) -> bool:
    """Tell whether the open call has the value of an op."""
    return var in session.opened.values


def facts_of(session: Session, var: Var) -> Summary:
    """Return the facts of a recorded value, found once."""
    facts: Summary = once(session.opened, ("facts", var), lambda: summarise(session.recorded(var)))
    return facts


def quick_facts(session: Session, var: Var) -> Summary:
    """Return the facts of a value, of a large one those of a sample until all are known."""
    facts: Summary | None = known(session.opened, ("facts", var))
    if facts is None:
        value = session.recorded(var)
        facts = once(session.opened, ("sample", var), lambda: quick_summary(value))
        if facts is None or not facts.sampled:
            return facts_of(session, var)
    return facts


def brief(session: Session, var: Var) -> str:
    """Return a value in a few words: minimum, maximum and count of NaN, or the number."""
    if not has_value(session, var):
        return "no value"
    return facts_text(facts_of(session, var), session.recorded(var))


def facts_text(facts: Summary, value: Any) -> str:
    """Return the facts of a value in a few words."""
    if facts.size == 1 and facts.finite:
        return f"value {format_number(single(value))}"
    what = f"{facts.symbol} " if facts.is_complex else facts.note
    if facts.minimum is None or facts.maximum is None:
        return f"{what} nan {facts.nan} inf {facts.inf}".strip()
    text = f"min {format_number(facts.minimum)} max {format_number(facts.maximum)} nan {facts.nan}"
    return f"{what}{text} inf {facts.inf}" if facts.inf else f"{what}{text}"


def finite(session: Session, var: Var) -> bool:
    """Tell whether the recorded value has neither NaN nor infinity."""
    return not has_value(session, var) or facts_of(session, var).finite
