"""Any other op with a rule: the derivatives of one element by all that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import yota
from yota.tape import Var, map_vars
from yotaview.model.replay import quiet
from yotaview.model.why.ask import Ask, Terms, one
from yotaview.model.why.elements import Element, Part, Term, array_of

Array = np.ndarray[Any, Any]
CLOSE = 1e-12
LARGEST = 4_000_000


def slopes(ask: Ask) -> Terms | None:
    """Return exact terms where the element is a sum of slope times operand, else the slopes.

    None where no derivative is known.
    """
    found = _rows(ask) if np.asarray(ask.y).dtype.kind in "fc" else []
    if not found:
        return None
    for row in found:
        if terms := _sum(ask, [row]):
            return terms
    if len(found) > 1 and (terms := _sum(ask, found)):
        return terms
    slope = np.concatenate([row.slope.reshape(-1) for row in found])
    if ask.y == 0 and not slope.any():
        return one(ask.y, (Part(ask.y),), "{0}", "passed", "a zero: no element arrives here")
    live = np.flatnonzero(slope)

    def describe(k: int) -> Term:
        return Term(slope[live[k]], (_part(found, int(live[k])),), "{0}", slope[live[k]])

    return Terms(slope[live], describe, "slopes")


@dataclass(frozen=True, slots=True)
class Row:
    """The derivatives of the element by one operand, and what each adds if the op is linear."""

    var: Var
    x: Array
    slope: Array
    adds: Array


def _sum(ask: Ask, rows: list[Row]) -> Terms | None:
    """Return slope times element for some operands if that sums to the element."""
    with quiet():
        slope = np.concatenate([r.slope.reshape(-1) for r in rows])
        values = np.concatenate([r.adds.reshape(-1) for r in rows])
        gap = abs(np.sum(values) - ask.y)
        if not gap <= tolerance(ask.y) * np.sum(np.abs(values)):
            return None
    live = np.flatnonzero(slope)
    if not live.size:
        return None
    kept, by = values[live], slope[live]

    def describe(k: int) -> Term:
        form = "{0}" if by[k] == 1 else f"{_number(by[k])} × {{0}}"
        return Term(kept[k], (_part(rows, int(live[k])),), form)

    if live.size == 1 and by[0] == 1:
        return Terms(kept, describe, "passed")
    fixed = [str(v) for v in dict.fromkeys(ask.op.operands) if v not in [r.var for r in rows]]
    note = f"slope × element of {', '.join(str(r.var) for r in rows)}"
    return Terms(kept, describe, "sum", f"{note}, {', '.join(fixed)} held" if fixed else note)


def _number(x: Any) -> str:
    return f"({complex(x):.6g})" if np.iscomplexobj(x) else f"{float(x):.6g}"


def tolerance(y: Any) -> float:
    """Return the relative error that a sum of terms may have in the dtype of an element."""
    dtype = np.asarray(y).dtype
    if dtype.kind not in "fc":
        return CLOSE
    return CLOSE * max(float(np.finfo(dtype).eps) / float(np.finfo(float).eps), 1.0)


def _part(rows: list[Row], k: int) -> Part:
    for row in rows:
        if k < row.x.size:
            index = tuple(int(i) for i in np.unravel_index(k, row.x.shape))
            return Part(row.x[index], Element(row.var, index))
        k -= row.x.size
    raise IndexError(k)


def _rows(ask: Ask) -> list[Row]:
    """Return the derivatives of the element by each differentiable operand."""
    operands = [v for v in dict.fromkeys(ask.op.operands) if _is_float(ask.values[v])]
    if not operands or sum(np.size(ask.values[v]) for v in operands) > LARGEST:
        return []
    values = [ask.values[v] for v in operands]
    try:
        with quiet():
            y, pullback = yota.vjp(_alone(ask, operands), *values)
            real = pullback(_unit(y, ask.element, 1))
            # the pullback of -i is the derivative of the imaginary part
            imaginary = pullback(_unit(y, ask.element, -1j)) if np.iscomplexobj(ask.y) else real
    except Exception:  # no rule: said by whoever asks
        return []
    pairs = zip(operands, real, imaginary, strict=True)
    return [_row(ask, v, u, w) for v, u, w in pairs if u is not None and w is not None]


def _row(ask: Ask, var: Var, real: Any, imaginary: Any) -> Row:
    x = array_of(ask.values[var])
    assert x is not None
    u, w = np.asarray(real).reshape(x.shape), np.asarray(imaginary).reshape(x.shape)
    with quiet():
        adds = np.real(np.where(u == 0, 0, u * x))
        if np.iscomplexobj(ask.y):
            adds = adds + 1j * np.real(np.where(w == 0, 0, w * x))
            u = u if np.iscomplexobj(x) else u + 1j * w
    return Row(var, x, u, adds)


def _is_float(value: Any) -> bool:
    x = array_of(value)
    return x is not None and x.dtype.kind in "fc" and x.size > 0


def _alone(ask: Ask, operands: list[Var]) -> Any:
    """Return the op as a function of its float operands; the others keep their values."""
    op, fixed = ask.op, {v: ask.values[v] for v in ask.op.operands}

    def alone(*xs: Any) -> Any:
        here = fixed | dict(zip(operands, xs, strict=True))
        args = map_vars(op.args, here.__getitem__)
        return op.fn(*args, **{k: map_vars(v, here.__getitem__) for k, v in op.kwargs})

    return alone


def _unit(y: Any, element: Element, unit: Any) -> Any:
    """Return a cotangent that is `unit` at the element and zero elsewhere."""
    if isinstance(y, tuple | list):
        parts = [np.zeros_like(v) if isinstance(v, np.ndarray) else 0.0 * v for v in y]
        k = element.item or 0
        parts[k] = _unit(y[k], Element(element.var, element.index), unit)
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    if not isinstance(y, np.ndarray):
        return type(y)(unit)
    whole = np.zeros_like(y)
    whole[element.index] = unit
    return whole
