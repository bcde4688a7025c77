"""Calls compared with each other on the command line: `--diff`, `--bisect`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from yotaview.capture import Capture
from yotaview.capture.console import escaped
from yotaview.headless import chosen_rows, open_row
from yotaview.invocation import Run, counted, data, say, write
from yotaview.model import store
from yotaview.model.bisect import Outcome, PredicateError, first_bad, outcome_text
from yotaview.model.diff import Diff, compare
from yotaview.model.digits import whole
from yotaview.model.goto import GotoError
from yotaview.model.runs import meeting, paired_rows
from yotaview.model.session import Session
from yotaview.options import WITHIN, UsageError
from yotaview.render.diff import diff_lines
from yotaview.render.diff_json import diff_json
from yotaview.render.json import FORMAT, dump
from yotaview.render.line import Span, clean, line

PLAIN_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Missing:
    """A row that only one side has."""

    text: str


def print_diff(run: Run) -> None:
    """Print what differs from another session, tape or call; raises UsageError for none there."""
    wanted = run.options.diff
    found = [*(_within(run, wanted) if WITHIN.fullmatch(wanted) else _between(run, wanted))]
    for k, one in enumerate(found):
        if isinstance(one, Missing):
            write(run, [line(Span(one.text, "alert"))])
        elif run.options.json:
            text = "".join(f"{t}\n" for t in diff_json(one))
            data(run, text if run.console.utf else escaped(text))
        else:
            write(run, [*([()] if k else []), *diff_lines(one, PLAIN_WIDTH)])
    differ = sum(isinstance(d, Missing) or not d.equal for d in found)
    run.failed_check = run.failed_check or differ > 0
    say(f"{counted(len(found), 'tape')} compared, {differ} differ")


def print_bisect(run: Run) -> None:
    """Print the first bad call of each row, with its op; raises UsageError for no condition."""
    assert run.capture is not None
    outcomes: list[Outcome] = []
    refused: list[PredicateError] = []
    for k in chosen_rows(run):
        if run.capture.rows[k].calls:
            try:
                outcomes.append(first_bad(run.capture, k, run.options.bisect))
            except PredicateError as error:
                refused.append(error)
    if refused and not outcomes:
        raise UsageError(f"--bisect: {refused[0]}") from refused[0]
    for why in refused:
        say(f"not searched: {why}")
    for found in outcomes:
        text = outcome_text(found, run.capture.rows[found.row])
        if run.options.json:
            data(run, f"{dump(outcome_object(found))}\n")
        else:
            write(run, [line(Span(clean(text), "alert" if found.first else "ok"))])
    bad = sum(f.first is not None for f in outcomes)
    run.failed_check = run.failed_check or bad > 0
    replays = sum(f.replays for f in outcomes)
    say(f"{counted(len(outcomes), 'tape')} searched, {bad} bad; {counted(replays, 'replay')}")


def outcome_object(found: Outcome) -> dict[str, Any]:
    """Return what a search found, for JSON."""
    return {
        "v": FORMAT,
        "tape": found.row + 1,
        "bisect": found.test.text,
        "first": found.first,
        "good": found.good,
        "opened": found.opened,
        "id": found.var.id if found.var is not None else None,
        "loc": found.place,
        "text": found.text,
        "gap": found.gap,
        "replays": found.replays,
    }


def _within(run: Run, wanted: str) -> Iterator[Diff]:
    """Yield the diff with another tape or call of the same run."""
    match = WITHIN.fullmatch(wanted)
    assert match is not None
    assert run.capture is not None
    left = open_row(run, chosen_rows(run)[0])
    row = whole(match[1]) - 1 if match[1] else left.row_index
    if not 0 <= row < len(run.capture.rows):
        raise UsageError(f"--diff {wanted}: no tape {row + 1}; {len(run.capture.rows)} captured")
    try:
        right = Session(run.capture, row)
        if match[2]:
            right.open_call(whole(match[2]))
    except GotoError as error:
        raise UsageError(f"--diff {wanted}: {error}") from error
    yield compare(left, right)


def _between(run: Run, path: str) -> Iterator[Diff | Missing]:
    """Yield the diffs with the rows of another session."""
    assert run.capture is not None
    other = store.load(path)
    chosen = set(chosen_rows(run))
    for left, right in paired_rows(run.capture, other):
        if left is None and right is not None and run.options.tape is None:
            yield Missing(f"only in {path}: {_named(other, right)}")
        elif left in chosen and left is not None:
            if right is None:
                yield Missing(f"only in {run.target}: {_named(run.capture, left)}")
            else:
                yield _one(run, left, other, right, path)


def _named(capture: Capture, k: int) -> str:
    row = capture.rows[k]
    return f"tape {k + 1} {row.name} {row.place}".rstrip()


def _one(run: Run, left: int, other: Capture, right: int, path: str) -> Diff:
    assert run.capture is not None
    ours, theirs = run.capture.rows[left], other.rows[right]
    try:
        met = meeting(ours, theirs, run.options.call)
        sessions = Session(run.capture, left), Session(other, right)
        for session, call in zip(sessions, (met.left, met.right), strict=True):
            if call is not None:
                session.open_call(call)
    except GotoError as error:
        raise UsageError(f"tape {left + 1} {ours.name}: {error}") from error
    labels = (run.target or "" if run.reopened else "", path)
    return compare(*sessions, met.history, labels, met.equal)
