"""Two calls op by op: side by side where it is wide, else one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from yota.tape import Op, Var
from yotaview.model.diff import Change, Diff, Side
from yotaview.model.summary import format_number
from yotaview.render.line import Line, Span, clean, fit, line
from yotaview.render.rows import Lazy
from yotaview.render.text import describe

WIDE = 116  # a terminal of 120 columns without its frame
CONTEXT = 2
NUMBER = 8
APART = 31
# from where a pair of numbers says more than their distance in ulp
FAR = 1e-3
MARKS = {
    "same": (" ", ""), "changed": ("~", "note"), "moved": (">", "note"),
    "deleted": ("-", "remove"), "inserted": ("+", "add"),
}  # fmt: skip
DIFFERS = ("≠", "number")


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: an op of both sides or one, a source line before them, or how many are left out."""

    change: Change | None = None
    shown: Literal["both", "left", "right"] = "both"
    source: tuple[str, str] = ("", "")
    skipped: int = 0


def entries(diff: Diff, wide: bool, context: int = CONTEXT) -> list[Entry]:
    """Return what differs with a few ops around it, each under its source lines."""
    found: list[Entry] = []
    skipped, source = 0, ("", "")
    near = _near([c.differs for c in diff.changes], context)
    for change, shown in zip(diff.changes, near, strict=True):
        if not shown:
            skipped += 1
            continue
        if skipped:
            found.append(Entry(skipped=skipped))
            skipped, source = 0, ("", "")
        own = sources_of(diff, change)
        if own != source and any(own):
            found += [Entry(source=s) for s in _headings(own, wide)]
            source = own
        found += _entries_of(change, wide)
    return [*found, Entry(skipped=skipped)] if skipped else found


def _headings(own: tuple[str, str], wide: bool) -> Iterator[tuple[str, str]]:
    """Yield source lines: both in a row where they are the same or there is room."""
    texts = [s.partition("  ")[2] for s in own]
    if wide or (texts[0] == texts[1] and all(own)):
        yield own
    else:
        yield from (s for s in ((own[0], ""), ("", own[1])) if any(s))


def _entries_of(change: Change, wide: bool) -> Iterator[Entry]:
    """Yield a row for an op; two where it was changed and they stand one below the other."""
    if change.kind == "changed" and not wide:
        yield Entry(change, "left")
        yield Entry(change, "right")
    else:
        yield Entry(change)


def _near(differs: Sequence[bool], context: int) -> list[bool]:
    """Tell of each op whether one that differs stands within `context` of it."""
    found = [False] * len(differs)
    for order in (range(len(differs)), range(len(differs) - 1, -1, -1)):
        last = None
        for k in order:
            last = k if differs[k] else last
            found[k] = found[k] or (last is not None and abs(k - last) <= context)
    return found


def sources_of(diff: Diff, change: Change) -> tuple[str, str]:
    """Return the source lines of an op on both sides, as `mlp.py:9  h = np.tanh(z)`."""
    return _source(diff.left, change.left), _source(diff.right, change.right)


def _source(side: Side, var: Var | None) -> str:
    op = side.tape[var] if var is not None else None
    if op is None or not op.origin.frames:
        return ""
    place, text = op.origin.place, side.text_of(op)
    return clean(place if text == place else f"{place}  {text}")


class DiffRows(Lazy):
    """The rows of a diff, drawn when they are asked for."""

    def __init__(self, diff: Diff, width: int) -> None:
        self.diff, self.width, self.wide = diff, width, width >= WIDE
        self.entries = entries(diff, self.wide)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def stops(self) -> list[int]:
        """The rows at which something differs."""
        return [k for k, e in enumerate(self.entries) if e.change is not None and e.change.differs]

    def row(self, index: int) -> Line:
        """Draw one row."""
        entry = self.entries[index]
        if entry.skipped:
            noun = "op" if entry.skipped == 1 else "ops"
            return line(Span(f"… {entry.skipped:,} {noun} the same", "dim"))
        if entry.change is None:
            return self.heading(*entry.source)
        return self.beside(entry.change) if self.wide else self.below(entry.change, entry.shown)

    def heading(self, left: str, right: str) -> Line:
        """Draw source lines."""
        if self.wide and left != right:
            half = self.half
            ours, theirs = Span(f"  {left}", "dim"), Span(f"  {right}", "dim")
            return line(fit(line(ours), half), Span(" │ ", "dim"), fit(line(theirs), half))
        if left and right:
            places = "/".join(dict.fromkeys(s.partition("  ")[0] for s in (left, right)))
            return line(Span(f"  {places}  {left.partition('  ')[2]}", "dim"))
        return line(Span(f"{'- ' if left else '+ '}{left or right}", "dim"))

    @property
    def half(self) -> int:
        """The width of one side."""
        return (self.width - APART - 6) // 2

    def below(self, change: Change, shown: str) -> Line:
        """Draw an op of one side, or one that both have."""
        mark, role = _mark(change)
        if change.kind == "changed":
            mark, role = MARKS["deleted" if shown == "left" else "inserted"]
        left = shown != "right" and change.left is not None
        side, var = (self.diff.left, change.left) if left else (self.diff.right, change.right)
        assert var is not None
        end = "" if shown == "left" else apart(change)
        room = self.width - 2 - (len(end) + 2 if end else 0)
        other = change.right if shown == "both" and left and change.right != var else None
        number = str(var) if other is None else f"{var}/{other}"
        body = fit(line(_op_text(side.tape[var], number, role), _what(change, shown)), room)
        return line(Span(f"{mark} ", role), body, Span(f"  {end}" if end else "", "number"))

    def beside(self, change: Change) -> Line:
        """Draw an op of both sides."""
        (mark, role), half = _mark(change), self.half
        sides = []
        for side, var in ((self.diff.left, change.left), (self.diff.right, change.right)):
            one = line() if var is None else _op_text(side.tape[var], str(var), role)
            sides.append(fit(line("  ", one), half))
        return line(
            sides[0], Span(f" {mark} ", role), sides[1], "  ", Span(apart(change), "number")
        )


def _mark(change: Change) -> tuple[str, str]:
    return DIFFERS if change.kind == "same" and change.differs else MARKS[change.kind]


def _op_text(op: Op, number: str, role: str) -> Line:
    return line(
        Span(number.ljust(NUMBER - 1) + " ", role or "dim"),
        Span(describe(op), role if role in ("add", "remove", "note") else ""),
        Span(f"  {op.spec.text(short=True)}", "dim"),
    )


def _what(change: Change, shown: str) -> Line:
    """Return what was changed, behind the new op."""
    told = (
        "" if shown == "left" or change.kind not in ("changed", "moved") else "; ".join(change.what)
    )
    if change.kind == "moved":
        told = "; ".join(("moved", *change.what))
    return line(Span(f"   {clean(told)}" if told else "", "note"))


def apart(change: Change) -> str:
    """Return how far two values are apart, in few characters."""
    if change.delta is None:
        return "" if None in (change.left, change.right) else "not compared"
    if change.delta.equal:
        return ""
    ulp, relative = change.delta.worst.ulp, change.delta.relative
    if change.delta.worst.what:
        return "other type"
    if math.isinf(relative):
        return "NaN or inf on one side"
    worst = change.delta.worst
    if relative > FAR and worst.first is not None:
        return f"{_short(worst.first)} → {_short(worst.second)}, rel {relative:.2g}"
    size = f"{ulp:.0f}" if ulp < 1e6 else f"{ulp:.0e}".replace("e+", "e")
    return f"{size} ulp, rel {relative:.1g}" if math.isfinite(ulp) else f"rel {relative:.1g}"


def _short(number: Any) -> str:
    """Return a number with three significant digits."""
    try:
        return format_number(float(f"{float(number):.3g}"))
    except (TypeError, ValueError):
        return format_number(number)
