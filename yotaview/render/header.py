"""What stands above and below every view: where one is, the tabs, the alerts, the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from yota.tape import format_value
from yotaview.model.parts import part_name
from yotaview.model.passing import SATURATED
from yotaview.model.summary import format_number
from yotaview.render.line import Line, Span, cells, clean, line, spread, wrap_line
from yotaview.render.text import ALERT, RAISED, SEED, STOP, WATCH, Marks, failure_text

if TYPE_CHECKING:
    from yotaview.model.findings import Finding
    from yotaview.model.session import Session


Place = list[tuple[str, int]]
MOST_TOLD = 3


def header(session: Session, place: Place, width: int) -> list[Line]:
    """Return the top line; for want of room the brand goes, then high ranks, rank 0 never."""
    for dropped in range(5):
        left, right = _left(session, dropped, 0), _right(place, dropped)
        if cells(left) + cells(right) + 3 <= width:
            break
    spare = width - cells(right) - 3
    if cells(left) > spare:
        left = _left(session, 9, max(spare, 1))
    return [spread(_title(left), line(Span(right + " ", "title")), width)]


def _title(left: str) -> Line:
    brand, mark, rest = left.partition("yotaview")
    if mark:
        return line(brand, Span(mark, "title"), Span(rest))
    return line(Span(left))


def _left(session: Session, dropped: int, room: int) -> str:
    rows = session.capture.rows
    name = clean(session.capture.name)
    call = ""
    if session.call is not None and session.row.count > 1:
        call = f" · call {session.call.number}/{session.row.count}"
    if (branch := getattr(session.opened, "branch", None)) is not None:
        call += f" · what-if {branch.number}"
    tape = f"tape {session.row_index + 1}/{len(rows)} {clean(session.row.name)}{call}"
    if room:
        name = _squeeze(name, max(room - cells(tape) - 4, 3))
        return f" {name} › {tape}" if cells(name) + cells(tape) + 4 <= room else f" {tape}"[:room]
    brand = " yotaview " if dropped < 1 else ""
    return f"{brand} {name} › {tape}"


def _squeeze(name: str, room: int) -> str:
    """Drop the middle of a file name."""
    if len(name) <= room:
        return name
    head = (room - 1) // 2
    return f"{name[:head]}…{name[len(name) - (room - 1 - head) :]}"


def _right(place: Place, dropped: int) -> str:
    return " · ".join(text for text, rank in place if rank == 0 or rank <= 4 - dropped)


def step_place(session: Session) -> Place:
    """Return count in the phase, position, line and stage."""
    parts = [(_phase_count(session), 1), (op_count(session), 0)]
    if part := part_name(session.opened, session.stepper):
        parts[1] = (f"{op_count(session)} {part}", 0)
    failure = session.row.failure
    origin = failure.origin if session.failed_here and failure else session.op.origin
    if origin.frames:
        parts.append((f"line {origin.frames[0].line}", 2))
    return [*parts, ("stage reverse" if session.row.has_gradient else "stage trace", 3)]


def op_count(session: Session) -> str:
    """Return the position as `op 46/49`; that of the op that raised as `op ✗/4`."""
    stepper = session.stepper
    return f"op {RAISED if stepper.beyond else stepper.index + 1}/{len(stepper.order)}"


def _phase_count(session: Session) -> str:
    if session.failed_here:
        return "raised"
    places, start = session.stepper.positions, session.tape.reverse_start
    index, total = session.stepper.index, len(session.stepper.order)
    edge = places[start] if start is not None and start in places else total
    if index >= edge:
        return f"REV {index - edge + 1}/{total - edge}"
    return f"FWD {index + 1}/{edge}"


def tabs(current: str, views: Sequence[str], width: int) -> list[Line]:
    """Return the line of views; the current one's name is never cut."""
    right = line(Span("^p", "key"), " commands  ", Span("?", "key"), " help ")
    for tail in (right, line(Span("?", "key"), " help ")):
        for gap, make in ((" ", _tab), ("", _tab), ("", _short)):
            left = _tabs(current, views, gap, make)
            if sum(cells(s.text) for s in (*left, *tail)) + 1 <= width:
                return [spread(left, tail, width)]
    return [_tabs(current, views, "", _short)]


def _tabs(
    current: str, views: Sequence[str], gap: str, make: Callable[[int, str, bool], str]
) -> Line:
    spans: list[Span] = [Span(" ")]
    for k, name in enumerate(views, 1):
        here = name == current
        text = make(k, name, here)
        spans += [Span(text, "current" if here else ""), Span(gap)]
    return line(*spans)


def _tab(number: int, name: str, here: bool) -> str:
    return f"[{number} {name.capitalize()}]" if here else f" {number} {name.capitalize()} "


def _short(number: int, name: str, here: bool) -> str:
    return f"[{number} {name.capitalize()}]" if here else f" {number} "


def alert_line(session: Session, marks: Marks, told: str, width: int) -> list[Line]:
    """Return alerts, breakpoints, seed and value; or what was just said, in up to three lines."""
    if told:
        return _said(told, width)
    first = next(iter(session.alarms), None)
    count = len(session.alarms)
    spans = [
        Span(f" {ALERT} {count} alert{'' if count == 1 else 's'}", "alert" if count else "dim")
    ]
    masked = sum(a.level == "masked" for a in session.alerts)
    if masked:
        spans.append(Span(f", {masked} masked", "dim"))
    if wrong := marks.wrong(session):
        off = f"{len(wrong)} rule{'' if len(wrong) == 1 else 's'} off at {wrong[0]}"
        spans.append(Span(f", {off}", "alert"))
    if first is not None:
        spans.append(Span(f": {first.var} {clean(first.text)}", "alert"))
    elif faint := session.opened.faint:
        spans.append(Span(f", {_flow(faint)}: ! goes there", "warm"))
    if session.row.failure is not None:
        spans = [
            Span(f" {RAISED} {failure_text(session)}: ", "alert"),
            Span(clean(session.row.failure.error)),
        ]
    tail = _set_here(session)
    tail += [Span(f"   {SEED} seed {seed}", "seed") for seed in _seed(session)]
    tail.append(Span(f"   {clean(session.row.name)} {result_text(session)}"))
    room = width - 1
    if sum(cells(s.text) for s in (*spans, *tail)) <= room:
        spans += tail
    return [line(*spans)]


def _flow(found: Sequence[Finding]) -> str:
    """Count the gradients that are of no size, and the ops that hand none on."""
    flat = sum(f.cause == SATURATED for f in found)
    sizes = len(found) - flat
    told = [f"{sizes} gradient{'' if sizes == 1 else 's'} dead, faint or huge"] if sizes else []
    return ", ".join([*told, *([f"{flat} op{'' if flat == 1 else 's'} saturated"] if flat else [])])


def _said(told: str, width: int) -> list[Line]:
    rows = wrap_line(line(Span(clean(told), "title")), max(width - 2, 1))
    if len(rows) > MOST_TOLD:
        rows = [*rows[: MOST_TOLD - 1], line(rows[MOST_TOLD - 1], "…")]
    return [line(" ", row) for row in rows]


def _set_here(session: Session) -> list[Span]:
    """Count the breakpoints and watches of the open row."""
    stops = len(session.stops.breaks(session.row_index))
    watches = len(session.stops.watches(session.row_index))
    text = f"   {STOP} {stops} breakpoint{'' if stops == 1 else 's'}"
    told = [Span(text, "breakpoint" if stops else "dim")]
    if watches:
        told.append(Span(f"   {WATCH} {watches} watch{'' if watches == 1 else 'es'}", "note"))
    return told


def _seed(session: Session) -> list[str]:
    var = session.tape.seed
    if var is None or var not in session.opened.values:
        return []
    value = session.recorded(var)
    spec = session.tape[var].spec
    return [spec.text(short=True) if spec.shape else format_value(value)]


def result_text(session: Session) -> str:
    """Return the value of the function in the open call."""
    found = session.tape.result_vars
    if not found or found[0] not in session.opened.values:
        return "no value"
    spec = session.tape[found[0]].spec
    if len(found) > 1 or spec.shape or spec.kind not in ("array", "scalar", "python"):
        return ", ".join(session.tape[v].spec.text(short=True) for v in found)
    return format_number(
        session.recorded(found[0])[()] if spec.kind == "array" else session.recorded(found[0])
    )


def footer(hints: Sequence[tuple[str, str]], width: int, *, lesson: bool = False) -> list[Line]:
    """Return as many keys with their labels as fit; `?` and `q` are always among them."""
    fixed = line(Span("?", "key"), Span(" help  ", "dim"), Span("q", "key"), Span(" quit ", "dim"))
    if lesson:
        fixed = line(Span("O", "key"), Span(" lesson  ", "dim"), fixed)
    room = width - sum(cells(s.text) for s in fixed) - 1
    spans: list[Span] = []
    for keys, label in hints:
        if len(keys) + len(label) + 3 > room:
            continue
        room -= len(keys) + len(label) + 3
        spans += [Span(keys, "key"), Span(f" {label}  ", "dim")]
    return [line(" ", *spans, *fixed)]
