"""The screen as text, after some keys: the one place that knows how Textual keeps it."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from yota.tape import Call
from yotaview.app import YotaView, settled
from yotaview.capture import Capture, run_script
from yotaview.model.profile import Profile
from yotaview.model.savings import Cost, Savings
from yotaview.model.session import Session

DATA = Path(__file__).parents[1] / "data"
MLP = DATA / "mlp.py"


@lru_cache(maxsize=4)
def captured(script: Path = MLP) -> Capture:
    with contextlib.redirect_stdout(io.StringIO()):
        return run_script(str(script), [str(script)])


def mlp_session(row: int = 0, call: int | None = None) -> Session:
    return Session(captured(), row, call)


def counted(session: Session) -> Session:
    """Give a session times that do not depend on the machine: a microsecond for each operand."""
    tape = session.tape
    seconds = {v: 1e-6 * len(getattr(op, "operands", ())) for v, op in tape}
    reverse = sum(s for v, s in seconds.items() if tape.is_reverse(v))
    live = session.profile().live
    fixed = Profile(seconds, live, 5, sum(seconds.values()) - reverse, reverse)
    session.profile = lambda: fixed
    program = session.program
    assert program.stages
    program._stages = [
        replace(s, seconds=1e-4 if s.rewrites else 0.0) for s in program._tape_stages()
    ]
    program._seconds = dict.fromkeys(program._seconds, 1e-4)
    session.savings = lambda stopped=bool: _counted_savings(session)
    return session


def _counted_savings(session: Session) -> Savings:
    plan, made = session.program.plan(), []
    for name, stage in {"recorded": "reverse", "CSE alone": "cse", "all passes": "fuse"}.items():
        tape = session.program.stage(stage).tape
        calls = [(v, len(op.operands)) for v, op in tape if isinstance(op, Call)]
        reverse = 1e-6 * sum(n for v, n in calls if tape.is_reverse(v))
        total = 1e-6 * sum(n for _, n in calls)
        made.append(Cost(name, len(calls), total - reverse, reverse, 0))
    return Savings(made[0], made[1], made[2], 5, plan.nbytes, plan.unshared_nbytes)


def text_of(app: App[int]) -> str:
    lines = (strip.text.rstrip() for strip in app.screen._compositor.render_strips())
    return "".join(f"{line}\n" for line in lines)


def problems(app: App[int]) -> list[Exception]:
    """Return what went wrong in any pane."""
    return [v.problem for v in app.screen_stack[0].views.values() if v.problem is not None]


def drive(
    app: YotaView, size: tuple[int, int], act: Callable[[Pilot[int]], Awaitable[None]]
) -> None:
    async def go() -> None:
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await app.workers.wait_for_complete()
            await act(pilot)

    asyncio.run(go())


def screen_of(
    session: Session,
    size: tuple[int, int],
    keys: Sequence[str] = (),
    *,
    view: str = "step",
    ascii: bool = False,
) -> str:
    app = YotaView(session, view=view, ascii=ascii)
    found: list[str] = []

    async def act(pilot: Pilot[int]) -> None:
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        await settled(app)
        found.append(text_of(app))
        assert not problems(app)

    drive(app, size, act)
    return found[0]
