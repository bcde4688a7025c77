"""Compare gradients with finite differences, and name the op that is off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from yota.api import grad, gradtape, value_and_grad
from yota.arrays import copy_layout
from yota.entry import ints_to_floats
from yota.pullbacks import vjp
from yota.recording import function_name
from yota.structs import flatten, is_float, paths, unflatten
from yota.tape import Call, Tape, Var, format_op, map_vars


def check_grads(
    f: Callable[..., Any],
    *args: Any,
    order: int = 1,
    rtol: float = 1e-5,
    atol: float | None = None,
) -> None:
    """Compare the gradient of `f` with central differences; raise AssertionError where they differ.

    The error names argument, element and, where one can be found, the op whose local rule is off,
    each with the two numbers.  `rtol` is relative to the largest gradient of the argument; `atol`
    None stands for what rounding leaves of `f`.  A vector output is checked as its product with
    fixed weights.  `order=2` also checks the derivative of the gradient.
    Raises ValueError where no argument holds a number, or the output none of floating type.
    """
    if not any(is_float(x) for a in args for x in flatten(a)[0]):
        args = tuple(ints_to_floats(a) for a in args)
    if not any(flatten(a, leaf=is_float)[0] for a in args):
        raise ValueError(f"{function_name(f)} has no number among its arguments to vary")
    scalar = _scalar(f, args)
    _check_once(scalar, args, rtol, atol, function_name(f))
    for n in range(len(args)) if order > 1 else ():
        if flatten(args[n], leaf=is_float)[0]:
            name = f"the gradient of {function_name(f)}"
            _check_once(_slope(scalar, args, n), args, rtol * 10, atol, name)


def _scalar(f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    outputs = flatten(f(*args), leaf=is_float)[0]
    if not outputs:
        raise ValueError(f"{function_name(f)} returns no number of floating type to differentiate")
    weights = [_weights(np.shape(v), k) for k, v in enumerate(outputs)]
    if [np.shape(v) for v in outputs] == [()] and not np.iscomplexobj(outputs[0]):
        return f

    def total(*a: Any) -> Any:
        found = flatten(f(*a), leaf=is_float)[0]
        return sum(_weighted(y, w) for y, w in zip(found, weights, strict=True))

    return total


def _weighted(y: Any, w: Any) -> Any:
    total = np.sum(np.real(y) * w)
    return total + np.sum(np.imag(y) * (w - 0.25)) if np.iscomplexobj(y) else total


def _weights(shape: tuple[int, ...], k: int) -> Any:
    return np.random.default_rng(k).uniform(0.5, 1.5, shape)


def _slope(f: Callable[..., Any], args: tuple[Any, ...], n: int) -> Callable[..., Any]:
    leaves, _ = flatten(args[n], leaf=is_float)
    weights = [_weights(np.shape(v), 7 + k) for k, v in enumerate(leaves)]

    def slope(*a: Any) -> Any:
        gradients, _ = flatten(value_and_grad(f, n)(*a)[1], leaf=is_float)
        return sum(_weighted(g, w) for g, w in zip(gradients, weights, strict=True))

    return slope


def _check_once(
    f: Callable[..., Any], args: tuple[Any, ...], rtol: float, atol: float | None, name: str
) -> None:
    value, gradients = grad(f, *args)
    if atol is None:
        atol = 1e-9 * max(abs(value), 1e-3) if np.isfinite(value) else 0.0
    for n, arg in enumerate(args):
        leaves, structure = flatten(arg, leaf=is_float)
        slopes, _ = flatten(gradients[n], leaf=is_float)
        names = dict(paths(structure, f"argument {n}"))
        for k, (leaf, slope) in enumerate(zip(leaves, slopes, strict=True)):
            moved = _of_leaf(f, args, n, k)
            for index, got, want in _differences(moved, leaf, slope, rtol, atol):
                where = f"{names[k]}{list(index) if index else ''}"
                raise AssertionError(
                    f"gradient of {name} with respect to {where}: reverse mode {got:.9g}, "
                    f"finite differences {want:.9g}{_culprit(f, args, rtol)}"
                )


def _of_leaf(f: Callable[..., Any], args: tuple[Any, ...], n: int, k: int) -> Callable[[Any], Any]:
    """Return `f` as a function of leaf k of argument n alone."""
    leaves, structure = flatten(args[n], leaf=is_float)

    def moved(value: Any) -> Any:
        changed = [*leaves[:k], value, *leaves[k + 1 :]]
        return f(*args[:n], unflatten(structure, changed), *args[n + 1 :])

    return moved


def _differences(
    f: Callable[[Any], Any], x: Any, gx: Any, rtol: float, atol: float
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield element, gradient and central difference where they disagree, both steps confirming."""
    flat = copy_layout(x) if isinstance(x, np.ndarray) else np.array(x)
    finite = np.abs(gx)[np.isfinite(gx)] if np.ndim(gx) else np.abs([gx])
    scale = float(np.max(finite, initial=0.0))
    for index in np.ndindex(flat.shape):
        got = np.asarray(gx)[index]
        best = min((_central(f, flat, index, h) for h in _steps(flat)), key=lambda w: _gap(got, w))
        if not _gap(got, best) <= atol + rtol * max(abs(got), abs(best), scale):
            yield index, got, best


def _gap(a: Any, b: Any) -> float:
    return 0.0 if a == b else float(abs(a - b)) if np.isfinite(abs(a - b)) else np.inf


def _steps(x: Any) -> tuple[float, ...]:
    eps = float(np.finfo(x.dtype).eps)
    return (eps ** (1 / 3), eps ** (1 / 3) * 8, eps ** (1 / 3) / 8)


def _central(f: Callable[[Any], Any], x: Any, index: Any, h: float) -> Any:
    h = h * max(1.0, float(abs(x[index])))

    def slope(step: Any) -> Any:
        up, down = copy_layout(x), copy_layout(x)
        up[index] += step
        down[index] -= step
        with np.errstate(all="ignore"):
            return float(np.real(f(_like(up, x)) - f(_like(down, x)))) / float(
                abs(up[index] - down[index]) or 1.0
            )

    return slope(h) - 1j * slope(1j * h) if x.dtype.kind == "c" else slope(h)


def _like(x: Any, leaf: Any) -> Any:
    return x[()] if np.ndim(leaf) == 0 else x


def _culprit(f: Callable[..., Any], args: tuple[Any, ...], rtol: float) -> str:
    """Return the first op whose own rule disagrees with differences of that op alone."""
    tape = gradtape(f, *args)
    for var, op in tape:
        if isinstance(op, Call) and not tape.is_reverse(var) and op.spec.dtype is not None:
            text = _local(tape, var, op, rtol)
            if text:
                return f"; the rule of {format_op(var, op)} ({op.origin.place}) is off: {text}"
    return ""


def _local(tape: Tape, var: Var, op: Call, rtol: float) -> str:
    operands = [v for v in dict.fromkeys(op.operands) if is_float(tape.value(v))]
    if not is_float(tape.value(var)) or not operands:
        return ""
    values = [tape.value(v) for v in operands]
    alone = _alone(tape, op, operands)
    y, pullback = vjp(alone, *values)
    weights = np.asarray(_weights(np.shape(y), 3), dtype=np.asarray(y).dtype)
    for k, (value, slope) in enumerate(zip(values, pullback(weights), strict=True)):
        moved = _of_operand(alone, values, k, weights)
        for index, got, want in _differences(moved, value, slope, max(rtol, 1e-4), 1e-6):
            return f"element {list(index)} of {operands[k]}: {got:.9g}, differences {want:.9g}"
    return ""


def _alone(tape: Tape, op: Call, operands: list[Var]) -> Callable[..., Any]:
    """Return one op as a function of its float operands; the others keep their values."""
    fixed = {v: tape.value(v) for v in op.operands}

    def alone(*xs: Any) -> Any:
        here = fixed | dict(zip(operands, xs, strict=True))
        return op.fn(
            *map_vars(op.args, here.__getitem__),
            **{k: map_vars(v, here.__getitem__) for k, v in op.kwargs},
        )

    return alone


def _of_operand(
    alone: Callable[..., Any], values: list[Any], k: int, weights: Any
) -> Callable[[Any], Any]:
    """Return the weighted sum of one op's output as a function of operand k."""

    def moved(x: Any) -> Any:
        return np.sum(np.real(alone(*values[:k], x, *values[k + 1 :])) * np.real(weights))

    return moved
