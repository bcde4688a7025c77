"""Functions with loops and calls, and the boxes that they are drawn in."""

from __future__ import annotations

import numpy as np

import yota
from yota.tape import Call
from yotaview.model.boxes import Boxes, Links
from yotaview.model.outline import Outline
from yotaview.model.session import Session
from yotaview.model.single import session_of

RNG = np.random.default_rng(7)


W, X = RNG.standard_normal((4, 4)), RNG.standard_normal(4)


def simple_loop(w, x):
    for _ in range(200):
        x = np.tanh(w @ x + 1.0)
    return np.sum(x)


def one_op_loop(w, x):
    for _ in range(30):
        x = np.sin(x)
    return np.sum(w) * np.sum(x)


def two_statements(w, x):
    for k in range(12):
        h = w @ x
        x = np.tanh(h) * k
    return np.sum(x**2)


def nested(w, x):
    for _ in range(5):
        for _ in range(3):
            x = np.sin(w @ x)
        x = x / 2.0
    return np.sum(x)


def triangular(w, x):
    for k in range(2, 7):
        x = w @ x
        for _ in range(k):
            x = np.sin(x)
        x = x / 2.0
    return np.sum(x)


def late_start(w, x):
    h = 0.0
    for _ in range(10):
        h = np.tanh(0.5 * h + w @ x)  # 0.5 * 0.0 is no op of the tape
    return np.sum(h)


def comprehension(w, x):
    return 1.0 + sum(np.sum(w * k * x) for k in (1.0, 2.0, 3.0, 4.0)) * 2.0


def helper(w, x):
    y = w @ x
    return np.tanh(y)


def calls(w, x):
    a = helper(w, x)
    b = helper(w, a)
    return np.sum(a * b)


def several_lines(w, x):
    y = np.sin(
        w @ x  # two lines of one statement
        + 1.0
    )
    return np.sum(y)


# lutzroeder/netron#68, #592, #1237: equal parts that follow each other are one box, with how many
LOOPS = {
    "simple": (simple_loop, [200]),
    "one op": (one_op_loop, [30]),
    "two statements": (two_statements, [12]),
    "nested": (nested, [5]),
    "triangular": (triangular, [5]),
}


def outline_of(f, *args, by="line") -> Outline:
    session = session_of(yota.gradtape(f, *args or (W, X)))
    return Outline(session.tape, session.capture.sources, by)


def graph_of(session: Session, by="line") -> Boxes:
    outline = Outline(session.tape, session.capture.sources, by)
    return Boxes(outline, Links(outline))


def check_columns(session: Session, boxes: Boxes) -> None:
    tape, outline = session.tape, boxes.outline
    held = [v for n in boxes.nodes for v in (*outline.forward(n), *outline.reverse(n))]
    calls = {v for v, op in tape if isinstance(op, Call)}
    assert len(held) == len(set(held))
    assert calls <= set(held)
    for k, node in enumerate(boxes.nodes):
        for var in (*outline.forward(node), *outline.reverse(node)):
            assert boxes.at(var) == k
            cause = tape[var].origin.of
            if tape.is_reverse(var) and cause in outline.of:
                assert boxes.at(cause) == k
