"""Watches with values, breakpoints with hits in the Step view; all that is set in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from yota.tape import Var
from yotaview.model.hits import hits_of
from yotaview.model.items import Forked, Item, Marked
from yotaview.model.stops import Breakpoint, Watching
from yotaview.model.summary import Summary, format_number, single, summarise
from yotaview.model.watches import Reading, Watch, changes, gathered, read_watch
from yotaview.model.whatif import Planned
from yotaview.render.line import Line, Page, Span, clean, cut, line, wrap_line
from yotaview.render.text import ALERT, NOW, STOP, WATCH, describe

if TYPE_CHECKING:
    from yotaview.model.session import Session

OFF = "○"
NONE_YET = (
    "none yet: b in a view sets a breakpoint on its op, w watches it, m marks it, e edits its "
    "value; here a takes what is typed, as op:log, line:9, nan or %18 if nan"
)
LIST_KEYS = "a add  w watch  space off/on  d delete  enter goes there  n N stops  esc"
TITLE = "Breakpoints, watches, marks, what-ifs"


def watch_lines(session: Session, width: int) -> list[Line]:
    """Return a line for each watch with its value at the position; none where there is none."""
    found = session.stops.watches(session.row_index)
    room = min(max((len(label(session, e.watch)) for e in found), default=0), width // 3)
    rows = []
    for entry in found:
        rows += _watch_rows(session, entry, room)
    return rows


def label(session: Session, watch: Watch) -> str:
    """Return what is watched, an op with its function."""
    if watch.var is None or watch.kind == "buffer":
        return watch.text
    op = session.tape[watch.var]
    name = getattr(op, "name", "")
    return clean(f"{watch.text} {name}".strip())


def _watch_rows(session: Session, entry: Watching, room: int) -> list[Line]:
    watch, upto = entry.watch, session.stepper.done
    reading = read_watch(session.opened, watch, upto)
    here = any(c.index == session.stepper.index for c in changes(session.opened, watch))
    mark = Span(f"{WATCH if entry.enabled else OFF} ", "note" if entry.enabled else "dim")
    rows = [_row(mark, label(session, watch), reading, here, room)]
    if watch.kind == "op" and gathered(session.opened, watch.var, upto)[:1] not in ("", "0"):
        cotangent = Watch(f"δ{watch.var}", "cotangent", watch.var)
        own = read_watch(session.opened, cotangent, upto)
        rows.append(_row(Span("  "), cotangent.text, own, False, room))
    return rows


def _row(mark: Span, name: str, reading: Reading, here: bool, room: int) -> Line:
    parts: list[Any] = [mark, Span(cut(name, room).ljust(room), "number"), " "]
    if reading.problem:
        parts.append(Span(clean(reading.problem), "dim"))
        return line(*parts)
    facts = summarise(reading.value)
    if here:
        parts.append(Span("now ", "current"))
    if reading.note:
        role = "reverse" if "contribution" in reading.note else "dim"
        parts.append(Span(f"{reading.note}  ", role))
    parts.append(Span(value_text(reading.value, facts), "" if facts.finite else "alert"))
    return line(*parts)


def value_text(value: Any, facts: Summary | None = None) -> str:
    """Return a value in a few words: the number, or type, range and norm of an array."""
    facts = summarise(value) if facts is None else facts
    if isinstance(value, tuple):
        return clean(str(value)) if len(str(value)) < 40 else facts.note
    if single(value) is not None:
        return format_number(single(value))
    if facts.minimum is None or facts.maximum is None:
        bad = f"nan {facts.nan} inf {facts.inf}" if facts.size else facts.note
        return f"{facts.type_text} {bad}"
    low, high = (format_number(float(f"{v:.4g}")) for v in (facts.minimum, facts.maximum))
    bad = "".join(f" {n} {k}" for n, k in (("nan", facts.nan), ("inf", facts.inf)) if k)
    norm = format_number(float(f"{facts.norm:.4g}")) if facts.norm is not None else ""
    return f"{facts.type_text} {facts.symbol}∈[{low}, {high}] ‖x‖={norm}{' !' if bad else ''}{bad}"


def break_line(session: Session, entry: Breakpoint) -> Line:
    """Return a breakpoint with how often it is met up to the position, and in all."""
    hits = hits_of(session.opened, entry.test)
    index = session.stepper.done
    if not hits.places:
        told = "no op of this tape"
    elif not hits.complete and not hits.asked:
        told = "not asked yet"
    else:
        more = "" if hits.complete else f" among {hits.asked:,} of {len(hits.places):,} ops asked"
        told = f"hit {hits.upto(index)} of {len(hits.found)}{more}"
    where = entry.test.where
    op = session.tape.ops.get(Var(where.number)) if where.kind == "number" else None
    what = describe(op) if op is not None else ""
    state = "" if entry.enabled else "disabled  "
    problem = f"  {hits.problem}" if hits.problem else ""
    return line(
        Span(f"{STOP if entry.enabled else OFF} ", "breakpoint" if entry.enabled else "dim"),
        Span(clean(entry.text).ljust(6), "number" if entry.enabled else "dim"),
        f"  {clean(what)}" if what else "",
        Span(f"  {state}{told}", "dim"),
        Span(clean(problem), "alert"),
    )


def break_lines(session: Session) -> list[Line]:
    """Return a line for each breakpoint."""
    return [break_line(session, e) for e in session.stops.breaks(session.row_index)]


def item_line(session: Session, item: Item, width: int) -> Line:
    """Return a line for something that is set."""
    match item:
        case Breakpoint():
            return line(break_line(session, item), *_elsewhere(session, item.row))
        case Watching():
            if item.row != session.row_index:
                glyph = Span(f"{WATCH if item.enabled else OFF} ", "note")
                return line(glyph, Span(clean(item.text)), *_elsewhere(session, item.row))
            room = min(len(label(session, item.watch)), width // 3)
            return _watch_rows(session, item, room)[0]
        case Marked():
            where = clean(session.place_text(item.place))
            return line(Span(f"{item.letter} ", "key"), Span("mark    "), Span(where, "dim"))
        case Forked():
            return _fork_line(session, item)
    return line(Span(f"{ALERT} ", "alert"), Span(clean(item.told), "dim"))


def _elsewhere(session: Session, row: int | None) -> list[Span]:
    """Say of which other tape a stop is."""
    if row in (None, session.row_index):
        return []
    return [Span(f"  on tape {row + 1} {clean(session.capture.rows[row].name)}", "dim")]


def _fork_line(session: Session, item: Forked) -> Line:
    row = session.capture.rows[item.row]
    here = (item.row, item.call) == (session.row_index, session.call_index)
    seen = here and session.forks.current == item.branch.number
    state = "in sight" if seen else "not run yet" if isinstance(item.branch, Planned) else ""
    call = f" call {row.calls[item.call].number}" if row.count > 1 and row.calls else ""
    where = "" if here else f"on tape {item.row + 1} {clean(row.name)}{call}"
    told = "  ".join(t for t in (where, state) if t)
    return line(
        Span(f"{NOW if seen else ' '} ", "current" if seen else ""),
        Span(f"what-if {item.branch.number}", "number"),
        f"  {clean(item.branch.text)}",
        Span(f"  {told}", "dim"),
    )


def stops_page(
    session: Session, items: Sequence[Item], row: int, width: int, told: str = ""
) -> Page:
    """Return the list of all that is set, with the current one marked."""
    lines = [item_line(session, item, width) for item in items]
    cursor = row if lines else None
    if not lines:
        lines = wrap_line(line(NONE_YET), width)
    lines += [(), *wrap_line(line(Span(told or LIST_KEYS, "title" if told else "dim")), width)]
    return Page(lines, TITLE, f"at op {session.stepper.index + 1}", cursor)
