"""Tapes to travel on, and the places that a walk stops at."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import yota
from yota.tape import Tape
from yotaview.model.session import Session
from yotaview.model.single import session_of

RNG = np.random.default_rng(0)


DATA, WEIGHTS = RNG.standard_normal((8, 3)), RNG.standard_normal((3, 4))


def network(w, b):
    hidden = np.tanh(DATA @ w + b)
    return np.mean(hidden**2) + np.sum(w * w)


def loop(x):
    for k in range(6):
        x = np.sin(x) * (k + 1.0) + x
    return np.sum(x)


def broken(x):
    return np.sum(np.log(x)) + np.sum(np.exp(x * 800.0))


def helped(x):
    def scaled(v):
        return v * 2.0 + 1.0

    return np.sum(scaled(x) * scaled(np.cos(x)))


def chain(x):
    return np.exp(np.sin(x)) * x


TAPES = {
    "network": (network, WEIGHTS, np.zeros(4)),
    "loop": (loop, np.array([0.3, 0.8])),
    "broken": (broken, np.array([1.0, -1.0, 0.0])),
    "helped": (helped, np.array([0.3, 0.8])),
    "chain": (chain, 0.7),
}


@lru_cache(maxsize=8)
def taped(name: str) -> Tape:
    f, *args = TAPES[name]
    with np.errstate(all="ignore"):
        return yota.gradtape(f, *args)


def session(name: str) -> Session:
    return session_of(taped(name))
