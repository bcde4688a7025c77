"""Random keys on the screen: nothing may break it, whatever is pressed, in whatever view."""

from __future__ import annotations

import asyncio
import contextlib
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from tests.yotaview.screen_text import mlp_session, problems, text_of
from tests.yotaview.scripts import EXP, FAILS, FAILS_IN_REVERSE, LOOP, NAN, opened
from yotaview.app import YotaView
from yotaview.keys import KEYS, VIEWS
from yotaview.model.session import Session
from yotaview.screens.main import MainScreen

SIZES = ((80, 24), (120, 40), (40, 12), (200, 60), (99, 31))
# these end the program, which is tried once at the end
ENDING = {"q", "ctrl+q"}
TYPED = [*"abcdefghijklmnoprstuvwxyzABCDEFGHIJKLMNOPSUVWXYZ0123456789", "space", "backspace"]
ROUND = 12

ODD = """\
import numpy as np
import yota


def odd(z, empty, flag, x):
    w = np.abs(z) ** 2
    y = np.where(flag, x, 0.0)
    return np.sum(w) + np.sum(empty) + np.sum(np.sort(y)) + np.linalg.norm(x)


z = np.array([1 + 2j, 0j, -3j])
yota.grad(odd, z, np.zeros((0, 3)), np.array([True, False, True, True]), np.ones(4, np.float32))
yota.hessian(lambda x: np.sum(np.sin(x) * x[::-1]), np.arange(3.0))
"""


@dataclass
class Report:
    """What a run pressed, and what broke."""

    view: str
    tape: str
    pressed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


@contextlib.contextmanager
def tapes() -> Iterator[dict[str, Session]]:
    """Yield sessions on tapes of many kinds, in a folder in which keys may write."""
    texts = {
        "nan": NAN,
        "raised": FAILS,
        "raised in reverse": FAILS_IN_REVERSE,
        "scalar": EXP,
        "loop": LOOP.format(count=40),
        "odd": ODD,
    }
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = {"network": mlp_session()}
        for name, text in texts.items():
            own = Path(folder, name)
            own.mkdir()
            found[name] = opened(own, text)
        yield found


def choose(source: random.Random) -> str:
    """Return a key: mostly of the table, at times any other."""
    table = [k for key in KEYS for k in key.keys if k not in ENDING]
    return source.choice(table if source.random() < 0.8 else TYPED)


def press(app: YotaView, keys: Sequence[str]) -> None:
    """Send keys as a terminal does, without waiting for what they do."""
    named = {"space": " "}
    for key in keys:
        character = key if len(key) == 1 else named.get(key)
        app.post_message(events.Key(key, character))


async def settle(app: YotaView, pilot: Pilot[int]) -> None:
    """Leave whatever lies over the main screen."""
    for _ in range(8):
        if isinstance(app.screen, MainScreen) and not app.screen.prompt.display:
            return
        await pilot.press("escape")
        await pilot.pause()


async def trial(report: Report, app: YotaView, pilot: Pilot[int], keys: Sequence[str]) -> None:
    """Press keys, leave what they opened, and note what is broken."""
    report.pressed += keys
    press(app, keys)
    await pilot.press("escape")  # behind them all
    await settle(app, pilot)
    found = list(map(repr, problems(app)))
    shown = text_of(app)
    if not isinstance(app.screen, MainScreen) or app.screen.prompt.display:
        found.append("escape does not lead back to the main screen")
    elif "? help" not in shown or "q quit" not in shown:
        found.append("help or quit is cut off")
    last = ", ".join(report.pressed[-3 * ROUND :])
    report.broken += [f"{text} after {last}" for text in found]


async def run(session: Session, report: Report, keys: int, seed: int) -> None:
    """Press `keys` random keys in a view, now and then in another size, then ask and quit."""
    source = random.Random(seed)
    app = YotaView(session, view=report.view)
    app.animation_level = "none"
    async with app.run_test(size=source.choice(SIZES)) as pilot:
        await pilot.pause()
        while len(report.pressed) < keys and not report.broken:
            if source.random() < 0.1:
                await pilot.resize_terminal(*source.choice(SIZES))
            if source.random() < 0.3:
                app.main.show(report.view)
            await trial(report, app, pilot, [choose(source) for _ in range(ROUND)])
        await pilot.press("question_mark")
        if len(app.screen_stack) < 2:
            report.broken.append(f"? shows no help: the focus is on {app.focused}")
        await settle(app, pilot)
        await pilot.press("q")
        await pilot.pause()
        if app.return_code is None:
            report.broken.append("q does not quit")


def play(session: Session, view: str, tape: str, keys: int, seed: int) -> Report:
    """Return what came of random keys in one view on one tape."""
    report = Report(view, tape)
    try:
        asyncio.run(run(session, report, keys, seed))
    except Exception as error:  # what breaks the program is what is looked for
        last = ", ".join(report.pressed[-3 * ROUND :])
        report.broken.append(f"{type(error).__name__}: {error} after {last}")
    return report


def play_all(keys: int, seed: int, views: Sequence[str] = VIEWS) -> Iterator[Report]:
    """Yield a report for each view and tape; each view gets `keys` keys, shared by the tapes."""
    with tapes() as sessions:
        for view in views:
            for name, session in sessions.items():
                yield play(session, view, name, keys // len(sessions), seed)
