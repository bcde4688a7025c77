"""`scipy.integrate.odeint` for traced values; every other name is SciPy's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import integrate as _integrate

from yota.api import grad
from yota.errors import RuleError, TraceError
from yota.program import unobserved
from yota.rules.functional import halt
from yota.rules.registry import defvjp, find_box, is_complex, primitive
from yota.structs import is_float
from yota.tape import fn_name
from yota.tracing import array, current
from yota.tracing.box import CURRENT

Array = Any
# What the reverse integrations take over from the forward one.
SHARED = ("rtol", "atol", "hmax", "mxstep", "mxordn", "mxords")
# What makes the result another, or would have to be differentiated itself.
REFUSED = ("Dfun", "full_output", "tcrit")


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *rest: Any,
    **options: Any,
) -> Any:
    """Return `scipy.integrate.odeint(func, y0, t, args)`, also of traced `y0`, `t` and `args`.

    `func` is plain NumPy code; it takes what is traced as its arguments, not from around it.  The
    gradient integrates the adjoint equation backwards from each time to the one before, each piece
    from the forward solution and to the same `rtol` and `atol`, relative to the cotangent: with
    SciPy's defaults it agrees with the exact one to about 1e-6.  It can be differentiated again.
    """
    if find_box((y0, t, args)) is None:
        func = func if current() is None else Detached(func)
        return _integrate.odeint(func, y0, t, args, *rest, **options)
    if rest or any(options.get(k) for k in REFUSED):
        raise RuleError(
            f"odeint of traced values takes its options by name, and none of {', '.join(REFUSED)}"
        )
    order = bool(options.pop("tfirst", False))
    y0, t = (array(x) if isinstance(x, list | tuple) else x for x in (y0, t))
    return integrated(Rhs(func, order), (y0, t, tuple(args)), **options)


class Rhs:
    """The right-hand side as the integrator calls it: the state before the time."""

    def __init__(self, func: Callable[..., Any], time_first: bool) -> None:
        self.func, self.time_first = func, time_first
        self.__name__ = getattr(func, "__name__", "rhs")

    def __call__(self, y: Any, t: Any, *args: Any) -> Any:
        """Return the slope of the state."""
        return self.func(t, y, *args) if self.time_first else self.func(y, t, *args)


class Adjoint:
    """The right-hand side of state, cotangent, and what has been found for the parameters."""

    def __init__(self, rhs: Callable[..., Any], n: int) -> None:
        self.rhs, self.n = rhs, n
        self.__name__ = f"adjoint_{getattr(rhs, '__name__', 'rhs')}"
        self.vector = lambda y, t, *args: array(rhs(y, t, *args))

    def __call__(self, state: Any, t: Any, *args: Any) -> Any:
        """Return the slopes of all three, forward in time."""
        y, cotangent = state[: self.n], state[self.n : 2 * self.n]
        slope, g = grad(self.vector, y, t, *args, seed=cotangent)
        found = [np.ravel(d) for a, d in zip(args, g[2:], strict=True) if is_float(a)]
        return np.concatenate([slope, -g[0], *(-d for d in found)])


@primitive
def integrated(func: Any, operands: Any, **options: Any) -> Array:
    """Return the solution of y' = func(y, t, *args) at the times t; (times, len(y))."""
    y0, t, args = operands
    return _integrate.odeint(Detached(func), y0, t, args, **options)


class Detached:
    """A right-hand side outside the trace under way: what it does is not recorded."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns of plain values."""
        with outside_the_trace():
            try:
                return self.func(*args)
            except TraceError as error:
                raise TraceError(
                    f"{fn_name(self.func)} uses a traced value that is not among its arguments: "
                    "hand it to odeint in args=(...)"
                ) from error


@contextmanager
def outside_the_trace() -> Iterator[None]:
    """Let code run as if no trace were under way and nobody observed."""
    token = CURRENT.set(None)
    try:
        with unobserved():
            yield
    finally:
        CURRENT.reset(token)


def integrated_vjp(dy: Array, y: Array, func: Any, operands: Any, **options: Any) -> Any:
    """Pull back to initial value, times and parameters (Pontryagin; Chen et al. 2018, appendix B).

    Each time moves its own row along the slope there, the first one all of the solution.
    """
    y0, t, args = operands
    if any(map(is_complex, args)):
        raise RuleError("no derivative is known of odeint with complex parameters")
    shared = {k: v for k, v in options.items() if k in SHARED}
    n, adjoint = np.shape(y)[1], Adjoint(func, np.shape(y)[1])
    size = sum(int(np.size(a)) for a in args if is_float(a))
    total: Array = np.zeros(size)
    cotangent, times = dy[-1], []
    for k in range(np.shape(y)[0] - 1, 0, -1):
        times.append(np.sum(dy[k] * array(func(y[k], t[k], *args))))
        # The equation is linear in the cotangent: at size 1 the tolerances mean the same for each.
        scale = halt(np.max(np.absolute(cotangent)))
        scale = np.where(np.equal(scale, 0), 1, scale)
        state = np.concatenate([y[k], cotangent / scale, np.zeros(size)])
        found = integrated(adjoint, (state, t[k - 1 : k + 1][::-1], args), **shared)[1] * scale
        cotangent, total = found[n : 2 * n] + dy[k - 1], total + found[2 * n :]
    first = -np.sum((cotangent - dy[0]) * array(func(y[0], t[0], *args)))
    return np.reshape(cotangent, np.shape(y0)), np.stack([first, *times[::-1]]), split(total, args)


def split(total: Array, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a vector as cotangents of the arguments, None for what is not differentiated."""
    found, start = [], 0
    for a in args:
        n = int(np.size(a)) if is_float(a) else 0
        found.append(np.reshape(total[start : start + n], np.shape(a)) if is_float(a) else None)
        start += n
    return tuple(found)


defvjp(integrated, None, integrated_vjp)


def __getattr__(name: str) -> Any:
    return getattr(_integrate, name)


def __dir__() -> list[str]:
    return dir(_integrate)
