"""Gradients of equal calls, and of functions that are linear in their first argument."""

from __future__ import annotations

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
