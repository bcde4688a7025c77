"""Gradients of equal calls, and of functions that are linear in their first argument."""

from __future__ import annotations

import threading
import warnings

import numpy as np

import yota


def by_grad(f, *args, **kwargs):
    """Return value and gradient of the first argument."""
    value, g = yota.grad(f, *args, **kwargs)
    return value, g[0]


# how a gradient is asked for
WAY = {"way": by_grad}


def slope(f, *args, **kwargs):
    """Return the gradient after three equal calls: traced, then twice from the cache, if at all."""
    found = [WAY["way"](f, *args, **kwargs) for _ in range(3)]
    values, slopes = [v for v, _ in found], [g for _, g in found]
    assert all(np.array_equal(v, values[0], equal_nan=True) for v in values)
    assert all(np.array_equal(g, slopes[0], equal_nan=True) for g in slopes)
    return slopes[0]


def linear(f, *args):
    """Return the gradient of `f` at one and what it is: the value, for f(x) = x * k."""
    return slope(f, 1.0, *args), f(1.0, *args)


def states(patch, f, *values):
    """Yield gradients of `f` and what they are, for values of the global SCALE that it reads."""
    for value in values:
        patch.setitem(f.__globals__, "SCALE", value)
        yield linear(f)


def played(scenario, call, calls=6):
    """Return what each of some calls gives, and what it leaves behind.

    A scenario makes a function, what to look at after each call, and maybe what happens before.
    """
    f, observe, *rest = scenario()
    found = []
    for k in range(calls):
        for before in rest:
            before(k)
        try:
            value = call(f)
        except Exception as error:
            value = type(error).__name__
        found.append((value, repr(observe())))
    return found


def assert_played_alike(scenario):
    """Compare what differentiated calls give and leave behind with what plain ones do."""
    with np.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plainly = played(scenario, lambda f: float(f(1.0)))
        assert played(scenario, lambda f: float(yota.grad(f, 1.0)[0])) == plainly


def at_once(inputs, run, times):
    """Return what threads get that call `run` so often, each with an input of its own."""
    found = [None] * len(inputs)
    barrier = threading.Barrier(len(inputs))

    def work(k):
        barrier.wait()
        found[k] = [run(inputs[k]) for _ in range(times)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found
