"""A session on which one of everything is set, for the tests of what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.yotaview.scripts import captured
from yota.tape import Var
from yotaview.model.session import Session
from yotaview.model.standing import standing
from yotaview.model.stops import Watching

SCRIPT = """\
import numpy as np
import yota


def loss(w, x):
    a = np.sin(w)
    b = a * x
    return np.sum(b ** 2)


def other(t):
    return np.sum(np.exp(t))


yota.grad(loss, np.arange(3.0), np.ones(3))
yota.grad(loss, np.arange(4.0), np.ones(4))
yota.grad(other, np.zeros(2))
"""
LONGER = SCRIPT.replace("    a = np.sin(w)", "    c = np.cos(x)\n    d = c * 2\n    a = np.sin(w)")
LONGER = LONGER.replace("return np.sum(b ** 2)", "return np.sum(b ** 2) + np.sum(d)")


def op(session: Session, name: str, row: int = 0) -> Var:
    tape = session.capture.rows[row].tape
    return next(v for v, o in tape if getattr(o, "name", "") == name)


def everything_set(tmp_path: Path) -> Session:
    """A session on which one of everything is set, at the product in the middle of its parts."""
    made = Session(captured(tmp_path, SCRIPT), 2)
    made.goto(op(made, "exp", 2))
    made.stops.add_watch(f"np.ptp({made.at})", made)
    made.open(0)
    made.goto(op(made, "sin"))
    made.marks["a"] = made.place
    sine, product = op(made, "sin"), op(made, "multiply")
    made.break_at(f"{product} if x.max() > {sine}.max() % 7 - δ{sine}.max()")
    made.break_at("op:exp")
    made.stops.switch(made.stops.entries[-1])
    made.break_at("line:7")
    for text in (str(sine), f"δ{product}", f"np.ptp({product}) + w.max()", "B1"):
        made.stops.add_watch(text, made)
    made.forks.add("w[1] = 2")
    made.opened = made.forks.opened()
    made.forks.add(f"{sine} *= 2")
    made.opened = made.forks.opened()
    made.goto(product)
    made.stepper = made.stepper.within(made.stepper.index, 2)
    return made


def texts(session: Session) -> list[tuple[str, bool]]:
    """Return breakpoints, then watches, each as written."""
    entries = sorted(session.stops.entries, key=lambda e: isinstance(e, Watching))
    return [(e.text, e.enabled) for e in entries]


def told(session: Session) -> Any:
    return json.loads(standing(session, "step", "nord").text())
