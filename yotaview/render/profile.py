"""Time by op and by line, and the bytes that are alive while each op runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.render.line import Line, Page, Span, bar, clean, cut, line
from yotaview.render.passes import seconds_text
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, describe, phase_of

if TYPE_CHECKING:
    from yotaview.model.profile import Profile
    from yotaview.model.session import Session

LEVELS = " ▁▂▃▄▅▆▇█"


class TimeRows(Rows):
    """A head and an op a line, each drawn when it is asked for."""

    def __init__(
        self, session: Session, profile: Profile, order: Sequence[Var], top: float, room: int
    ) -> None:
        super().__init__(session)
        self.profile, self.order, self.top, self.room = profile, order, top, room
        self.name = max(room - 46, 22)
        self.not_run = frozenset(profile.not_run)

    def __len__(self) -> int:
        return len(self.order) + 1

    def row(self, index: int) -> Line:
        """Draw the head or an op."""
        if index == 0:
            return line(Span(f" {'op':<{self.name}}{'line':>5}{'µs':>9}{'%':>7}", "dim"))
        return _time_row(self, self.order[index - 1])


def _time_row(rows: TimeRows, var: Var) -> Line:
    session, name = rows.session, rows.name
    seconds, total = rows.profile.seconds[var], rows.profile.total
    share = f"{seconds * 1e6:>9.2f}{100 * seconds / total if total else 0:>6.1f}%  "
    if var in rows.not_run:
        share = "not run".rjust(16) + "  "
    frames = session.tape[var].origin.frames
    phase = phase_of(session.tape, var)
    blocks = bar(seconds / rows.top if rows.top else 0, max(rows.room - name - 25, 4))
    return line(
        Span(NOW if var == session.at else " ", "current"),
        Span(cut(f"{var} {describe(session.tape[var])}", name - 1).ljust(name), phase),
        Span(f"{frames[0].line if frames else '':>5}", "dim"),
        share,
        Span(blocks, phase),
    )


def by_op(
    session: Session, profile: Profile, order: Sequence[Var], top: float, at: int, width: int
) -> Page:
    """Return ops with their times, in the order given; `top` is the longest time."""
    return Page(
        TimeRows(session, profile, order, top, width), "Time by op", _ratio(profile), at + 1
    )


def _ratio(profile: Profile) -> str:
    forward, reverse = seconds_text(profile.forward), seconds_text(profile.reverse)
    ratio = f" · ratio {profile.reverse / profile.forward:.2f}" if profile.forward else ""
    return f"FWD {forward} · REV {reverse}{ratio}"


LineTime = tuple[str, int, float, float, Var]


def lines_of(session: Session, profile: Profile) -> list[LineTime]:
    """Return file, line, forward and reverse seconds and first op of each line, in order."""
    found: dict[tuple[str, int], list[float]] = {}
    first: dict[tuple[str, int], Var] = {}
    for var, seconds in profile.seconds.items():
        frames = session.tape[var].origin.frames
        if not frames or not seconds:
            continue
        key = (frames[0].file, frames[0].line)
        first.setdefault(key, var)
        pair = found.setdefault(key, [0.0, 0.0])
        pair[session.tape.is_reverse(var)] += seconds
    return [(*key, found[key][0], found[key][1], first[key]) for key in sorted(found)]


def by_line(session: Session, found: Sequence[LineTime], at: int | None, width: int) -> Page:
    """Return source lines with the time of their forward and reverse ops."""
    top = max((max(f, r) for _, _, f, r, _ in found), default=0.0)
    room = max((width - 34) // 2, 3)
    rows: list[Line] = []
    for file, number, forward, reverse, _ in found:
        source = session.capture.sources.get(file, ())
        text = source[number - 1].strip() if 0 < number <= len(source) else "source not available"
        rows.append(line(Span(f"{number:>4} ", "dim"), clean(text)))
        rows.append(
            line(
                f"     fwd {forward * 1e6:>7.2f} ",
                Span(bar(forward / top if top else 0, room).ljust(room), "forward"),
                f" rev {reverse * 1e6:>7.2f} ",
                Span(bar(reverse / top if top else 0, room, "▓"), "reverse"),
            )
        )
    return Page(rows, "By source line, µs", cursor=None if at is None else 2 * at)


def live_page(session: Session, profile: Profile, width: int, height: int) -> Page:
    """Return the bytes alive at each op as a chart, with the position under it."""
    values, label = profile.live, len(f"{profile.peak:,}") + 3
    room = max(width - label - 1, 4)
    tall = max(height - 2, 1)
    tops = _tops(values, room, profile.peak, tall)
    rows = []
    start = session.tape.reverse_start
    edge = session.stepper.positions.get(start, len(values)) if start is not None else len(values)
    total = max(len(values), 1)
    for level in range(tall - 1, -1, -1):
        name = f"{profile.peak:,}" if level == tall - 1 else "0" if level == 0 else ""
        cells = "".join(LEVELS[max(0, min(8, t - 8 * level))] for t in tops)
        split = min(edge * room // total, room)
        rows.append(
            line(
                Span(f" {name:>{label - 2}} ", "dim"),
                Span(cells[:split], "forward"),
                Span(cells[split:], "reverse"),
            )
        )
    column = session.stepper.index * room // total
    here = Span(f"▲ {session.at}", "current")
    if column + len(here.text) > room:
        here, column = Span(f"{session.at} ▲", "current"), max(column - len(str(session.at)) - 1, 0)
    rows.append(line(" " * (label + column), here))
    if height > 2:
        rows.append(
            line(Span(f" {values[session.stepper.index]:,} B alive at {session.at}", "dim"))
        )
    return Page(rows, "Live bytes by op", f"max live {profile.peak:,} B")


def _tops(values: Sequence[int], room: int, peak: int, tall: int) -> list[int]:
    total = max(len(values), 1)
    found = []
    for k in range(room):
        low, high = k * total // room, max((k + 1) * total // room, k * total // room + 1)
        most = max(values[low:high], default=0)
        found.append(-(-most * tall * 8 // peak) if peak else 0)
    return found


def by_phase(session: Session, profile: Profile, at: int, width: int) -> Page:
    """Return the time of the phases."""
    pairs = (("forward", profile.forward), ("reverse", profile.reverse))
    rows = [
        line(
            Span(f" {name:<9}", name),
            f"{seconds * 1e6:>9.2f} µs  ",
            Span(bar(seconds / profile.total if profile.total else 0, max(width - 26, 4)), name),
        )
        for name, seconds in pairs
    ]
    return Page(rows, "Time by phase", f"median of {profile.runs}", at)
