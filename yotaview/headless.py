"""What is printed and written without a screen: lists, tapes, files, findings, pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from yotaview.capture.console import escaped
from yotaview.checks import Finding, findings_of, line_of, raised_line
from yotaview.export import ExportError, Selection, export, stage_lines, suffix_of
from yotaview.invocation import FEW, Run, ascii_only, counted, data, say, write
from yotaview.model.breaks import BreakError, parse_break
from yotaview.model.goto import GotoError
from yotaview.model.hits import find_hits
from yotaview.model.session import Session
from yotaview.model.standing import read_standing, set_on, standing
from yotaview.model.why import NoElement
from yotaview.model.why.spec import find_element
from yotaview.options import UsageError
from yotaview.render.json import dump, json_lines
from yotaview.render.line import Line, Span, line
from yotaview.render.tapes import list_lines
from yotaview.render.why import why_lines, why_object

WIDE = 110


def print_outputs(run: Run) -> None:
    """Print and write what the options ask for; raises UsageError for what does not exist."""
    o, capture = run.options, run.capture
    assert capture is not None
    if o.out and suffix_of(o.out[0]) == ".yota" and len(o.out) == 1 and not capture.rows:
        _export_all(run, Selection(capture, []))
        return
    if not capture.rows or not (run.headless or run.asked):
        return
    rows = chosen_rows(run)
    if o.at is not None or o.breaks:
        _check_breaks(run, [open_row(run, k) for k in rows if len(capture.rows[k].tape)])
    if o.list or not (run.asked or o.screenshot or o.tui):
        if o.call is not None and all(o.call > capture.rows[k].count for k in rows):
            raise UsageError(f"no call {o.call} of {', '.join(capture.rows[k].name for k in rows)}")
        table = list_lines(capture, o.call)
        write(run, [table[0], *(table[k + 1] for k in rows)])
    if o.why:
        _print_why(run)
    _print_tapes(run, rows)
    if o.out:
        _export_all(run, _selection(run, rows))
    if o.check:
        _check_all(run, rows)
    if o.screenshot:
        _screenshot(run)


def chosen_rows(run: Run) -> list[int]:
    """Return the indices of the rows that the options choose; raises UsageError for none."""
    assert run.capture is not None
    rows, o = run.capture.rows, run.options
    if o.tape is not None and o.tape > len(rows):
        raise UsageError(f"no tape {o.tape}; {len(rows)} captured")
    found = [k for k, r in enumerate(rows) if o.only is None or o.only in (r.name, r.place)]
    if rows and not found:
        names = ", ".join(dict.fromkeys(r.name for r in rows))
        raise UsageError(f"no tape of {o.only!r}; there are: {names}")
    if o.tape is None:
        kept = [k for k in found if any(c.number == o.call for c in rows[k].calls)]
        return kept or found
    if o.tape - 1 not in found:
        row = rows[o.tape - 1]
        raise UsageError(f"--tape {o.tape} is {row.name} {row.place}, not --only {o.only!r}")
    return [o.tape - 1]


def open_row(run: Run, row: int) -> Session:
    """Return a session on a row, at the call and position that the options name."""
    assert run.capture is not None
    try:
        session = Session(run.capture, row)
        if run.options.call is not None:
            session.open_call(run.options.call)
        if run.options.at is not None:
            session.jump(run.options.at)
        for spec in run.options.breaks:
            session.break_at(spec)
    except (GotoError, BreakError) as error:
        raise UsageError(f"tape {row + 1} {run.capture.rows[row].name}: {error}") from error
    return session


def _check_breaks(run: Run, sessions: Sequence[Session]) -> None:
    """Say which breakpoints mean no op of the tapes; raises UsageError for an op by its number."""
    for spec in run.options.breaks:
        test = parse_break(spec)
        if any(find_hits(s.opened, test) for s in sessions):
            continue
        names = ", ".join(f"{s.row_index + 1} {s.row.name}" for s in sessions[:FEW])
        text = f"-b {spec}: no op of tape {names}"
        if test.where.kind == "number" and not test.when.test:
            raise UsageError(text)
        say(text)


def _to_export(run: Run, rows: list[int]) -> list[Session]:
    """Return the opened rows, the most urgent first."""
    assert run.capture is not None
    first = run.capture.opening_row()
    order = sorted((k for k in rows if len(run.capture.rows[k].tape)), key=lambda k: k != first)
    return [open_row(run, k) for k in order]


def _selection(run: Run, rows: list[int]) -> Selection:
    """Return what the options choose to export."""
    o, sessions = run.options, _to_export(run, rows)
    assert run.capture is not None
    return Selection(run.capture, sessions, o.stage, o.direction, _set_by(run, sessions))


def _set_by(run: Run, sessions: Sequence[Session]) -> str:
    """Return where a session is to open that the options give a position or breakpoints."""
    o, capture = run.options, run.capture
    assert capture is not None
    if not sessions or (o.at is None and not o.breaks):
        return ""
    session = open_row(run, sessions[0].row_index)
    with contextlib.suppress(ValueError):
        set_on(session, read_standing(capture.standing))
    return standing(session, o.view or "step", "").text()


def _print_tapes(run: Run, rows: list[int]) -> None:
    o = run.options
    as_json = o.json and not (o.why or o.diff or o.bisect)
    if not (o.text or as_json):
        return
    assert run.capture is not None
    for k in rows:
        if not len(run.capture.rows[k].tape):
            continue
        session = open_row(run, k)
        if o.text:
            write(run, stage_lines(session, o.stage))
        if as_json:
            texts = json_lines(session, ops=not o.list, stage=o.stage)
            text = "".join(f"{text}\n" for text in texts)
            data(run, text if run.console.utf else escaped(text))


def _print_why(run: Run) -> None:
    """Print what one element is made of; raises UsageError where there is no such element."""
    session = first_session(run)
    if session is None:
        return
    try:
        element = find_element(run.options.why, session.tape, session.opened.values)
        if element.index and "[" not in run.options.why:
            say("no index given: the first element that is not finite, else the largest")
        if run.options.json:
            text = dump(why_object(session, element))
            data(run, f"{text if run.console.utf else escaped(text)}\n")
        else:
            write(run, why_lines(session, element, WIDE))
    except NoElement as error:
        number, name = session.row_index + 1, session.row.name
        raise UsageError(f"--why: tape {number} {name}: {error}") from error


def _export_all(run: Run, selection: Selection) -> None:
    for path in run.options.out:
        try:
            export(path, selection)
        except ExportError as error:
            say(str(error))
            run.failed_export = True
        else:
            say(f"wrote {path} ({selection.told(path)})")


def _check_all(run: Run, rows: list[int]) -> None:
    assert run.capture is not None
    found: list[Finding] = []
    lines: list[Line] = []
    opened = [open_row(run, k) for k in rows if run.capture.rows[k].calls]
    for session in opened:
        for finding in findings_of(session, run.options.check):
            found.append(finding)
            role = {"alarm": "alert", "masked": "dim"}.get(finding.level, "note")
            lines.append(line(Span(line_of(finding, session), role)))
    raised = [k for k in rows if run.capture.rows[k].failure is not None]
    lines += [line(Span(raised_line(run.capture, k), "alert")) for k in raised]
    write(run, lines)
    alarms = sum(f.level == "alarm" for f in found)
    masked = sum(f.level == "masked" for f in found)
    run.failed_check = alarms > 0
    told = f"; {counted(len(raised), 'call')} raised" if raised else ""
    say(
        f"{counted(len(opened), 'tape')} checked: {counted(alarms, 'alarm')}, {masked} masked{told}"
    )


def _screenshot(run: Run) -> None:
    from yotaview.app import screenshot

    session = first_session(run)
    if session is None:
        run.failed_export = True
        return
    try:
        screenshot(session, run.options.screenshot, **screen_arguments(run))
    except OSError as error:
        say(f"{run.options.screenshot}: {error.strerror or error}")
        run.failed_export = True


def first_session(run: Run) -> Session | None:
    """Return what the screen begins with; None, having said so, where no row has an op."""
    assert run.capture is not None
    found = run.capture.rows
    rows = [k for k in chosen_rows(run) if len(found[k].tape)]
    if not rows:
        for k in chosen_rows(run):
            say(
                f"{found[k].name} recorded no op before it raised: there is nothing to step through"
            )
        return None
    first = run.capture.opening_row()
    session = open_row(run, first if first in rows else rows[0])
    _check_breaks(run, [session])
    return session


def screen_arguments(run: Run) -> dict[str, Any]:
    """Return how the screen begins."""
    o, capture = run.options, run.capture
    assert capture is not None
    view = o.view or ("tapes" if len(capture.rows) > 1 and o.tape is None else "step")
    return {"view": view, "theme": o.theme, "ascii": ascii_only(run)}
