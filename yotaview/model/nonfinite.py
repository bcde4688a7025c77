"""Where NaN and infinity begin on a tape, and whether they reach a result or a gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Op, Tape, Var, format_call
from yotaview.model.findings import Finding
from yotaview.model.flow import Paths
from yotaview.model.summary import format_number, numeric

CHECK = "nan"


def nonfinite_mask(value: Any) -> np.ndarray[Any, Any] | None:
    """Return where a float or complex value is NaN or infinite, None if nowhere."""
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc":
        return None
    bad = ~np.isfinite(x)
    return bad if bad.any() else None


def is_nonfinite(value: Any) -> bool:
    """Tell whether a value, or an item of a tuple, holds NaN or infinity."""
    if isinstance(value, tuple | list):
        return any(map(is_nonfinite, value))
    return nonfinite_mask(value) is not None


def nonfinite_vars(values: Mapping[Var, Any]) -> set[Var]:
    """Return the ops whose value holds NaN or infinity."""
    return {v for v, value in values.items() if is_nonfinite(value)}


def find_nonfinite(tape: Tape, values: Mapping[Var, Any], name: str = "") -> list[Finding]:
    """Return each op at which NaN or infinity begins, in tape order, then inputs without a path."""
    bad = nonfinite_vars(values)
    reaching = _reaching(tape, values, bad) if bad else set()
    found = []
    for var in (v for v in tape.ops if v in bad):
        op = tape[var]
        if isinstance(op, Call) and any(v in bad for v in op.operands):
            continue
        level = "alarm" if var in reaching else "masked"
        text = _describe(tape, var, op, values)
        found.append(_finding(var, op, level, text, name))
    return found + find_unused(tape, name)


def _finding(var: Var, op: Op, level: Any, text: str, name: str) -> Finding:
    function = op.origin.frames[0].qualname if op.origin.frames else name
    return Finding(CHECK, level, var, text, op.origin.place, function)


def _reaching(tape: Tape, values: Mapping[Var, Any], bad: set[Var]) -> set[Var]:
    """Return the non-finite ops that reach a non-finite output through non-finite ops."""
    stack = [v for v in tape.outputs if v in bad]
    seen = set(stack)
    while stack:
        op = tape[stack.pop()]
        if not isinstance(op, Call):
            continue
        for operand in _carriers(op, values):
            if operand in bad and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return seen


def _carriers(op: Call, values: Mapping[Var, Any]) -> Iterable[Var]:
    """Return the operands whose non-finite elements can stand in the op's value."""
    if op.fn is not np.where or len(op.args) != 3:
        return op.operands
    condition, *branches = op.args
    chosen = _value(condition, values)
    if chosen is None:
        return op.operands
    taken = (np.asarray(chosen, bool), ~np.asarray(chosen, bool))
    return [
        b
        for b, mask in zip(branches, taken, strict=True)
        if isinstance(b, Var) and b in values and _meets(values[b], mask)
    ]


def _value(arg: Any, values: Mapping[Var, Any]) -> Any:
    return values.get(arg) if isinstance(arg, Var) else arg


def _meets(value: Any, mask: np.ndarray[Any, Any]) -> bool:
    bad = nonfinite_mask(value)
    return bad is not None and bool(np.any(np.logical_and(bad, mask)))


def _describe(tape: Tape, var: Var, op: Op, values: Mapping[Var, Any]) -> str:
    what, where, index = _where_bad(values[var])
    match op:
        case Input():
            return f"input {op.name} holds {what}{where}"
        case Constant():
            return f"constant {op.name or var} holds {what}{where}"
        case Call():
            cause = _cause(tape, op, values, index)
            return f"{format_call(op)} gives {what}{where}{cause}"
    return ""


def _where_bad(value: Any) -> tuple[str, str, tuple[int, ...]]:
    for item in value if isinstance(value, tuple | list) else (value,):
        bad = nonfinite_mask(item)
        if bad is None:
            continue
        x = np.asarray(item)
        first = tuple(int(k) for k in np.argwhere(bad)[0]) if bad.ndim else ()
        what = "NaN" if np.isnan(x[first]) else "infinity"
        if not first:
            return what, "", first
        return (
            what,
            f" at [{', '.join(map(str, first))}], {int(bad.sum())} of {bad.size} elements",
            first,
        )
    return "nothing", "", ()


def _cause(tape: Tape, op: Call, values: Mapping[Var, Any], index: tuple[int, ...]) -> str:
    operands = [_element(_value(a, values), index) for a in op.args]
    shown = [
        f"{a} is {format_number(x)}"
        for a, x in zip(op.args, operands, strict=True)
        if isinstance(a, Var) and x is not None
    ]
    hint = _hint(op, operands)
    text = f" where {' and '.join(shown)}" if shown else ""
    differentiated = ""
    if op.origin.wrt is not None and op.origin.of in tape.ops:
        differentiated = f"; in the derivative of {_name(tape, op.origin.of)}"
    return text + (f": {hint}" if hint else "") + differentiated


def _name(tape: Tape, var: Var | None) -> str:
    op = tape[var] if var is not None else None
    return f"{var} {op.name}" if isinstance(op, Call) else str(var)


def _element(value: Any, index: tuple[int, ...]) -> Any:
    """Return the element of an operand that broadcasting puts at `index`, None if there is none."""
    x = numeric(value)
    if x is None or x.ndim > len(index):
        return None
    own = index[len(index) - x.ndim :]
    clipped = tuple(0 if n == 1 else k for k, n in zip(own, x.shape, strict=True))
    if any(k >= n for k, n in zip(clipped, x.shape, strict=True)):
        return None
    return x[clipped][()]


HINTS: dict[str, Callable[..., str]] = {
    "sqrt": lambda x, *_: "the root of a negative number" if x.real < 0 else "",
    "log": lambda x, *_: _log_hint(x, 0),
    "log2": lambda x, *_: _log_hint(x, 0),
    "log10": lambda x, *_: _log_hint(x, 0),
    "log1p": lambda x, *_: _log_hint(x, -1),
    "exp": lambda x, *_: "exp overflows",
    "expm1": lambda x, *_: "exp overflows",
    "exp2": lambda x, *_: "exp2 overflows",
    "cosh": lambda x, *_: "cosh overflows",
    "sinh": lambda x, *_: "sinh overflows",
    "square": lambda x, *_: "the square overflows",
    "reciprocal": lambda x, *_: "division by zero" if x == 0 else "",
    "divide": lambda x, y, *_: _quotient_hint(x, y),
    "truediv": lambda x, y, *_: _quotient_hint(x, y),
    "true_divide": lambda x, y, *_: _quotient_hint(x, y),
    "power": lambda x, y, *_: _power_hint(x, y),
    "pow": lambda x, y, *_: _power_hint(x, y),
    "arcsin": lambda x, *_: "outside of [-1, 1]",
    "arccos": lambda x, *_: "outside of [-1, 1]",
    "arctanh": lambda x, *_: "outside of (-1, 1)",
    "arccosh": lambda x, *_: "below 1",
}


def _log_hint(x: Any, edge: int) -> str:
    return f"the logarithm at {edge}" if x == edge else f"the logarithm below {edge}"


def _quotient_hint(x: Any, y: Any) -> str:
    if y != 0:
        return "the quotient overflows"
    return "0/0" if x == 0 else "division by zero"


def _power_hint(x: Any, y: Any) -> str:
    if x == 0:
        return "zero to a negative power"
    return "a broken power of a negative number" if x.real < 0 else "the power overflows"


def _hint(op: Call, operands: list[Any]) -> str:
    make = HINTS.get(op.name)
    if make is None or not operands or any(x is None for x in operands[:2]):
        return ""
    try:
        return make(*operands)
    except (TypeError, AttributeError):
        return ""


def find_unused(tape: Tape, name: str = "") -> list[Finding]:
    """Return a note for each float input that no derivative reaches, at the op where it is cut."""
    if tape.gradients is None:
        return []
    found = []
    for var, cuts in Paths(tape).lost().items():
        cut, more = cuts[0], f"; {len(cuts) - 1} more" if len(cuts) > 1 else ""
        what = f"input {getattr(tape[var], 'name', var)}: no path to the result"
        text = f"{what}, its gradient is zero: {cut.why}{more}"
        found.append(Finding(CHECK, "note", cut.var, text, cut.place, cut.function))
    return found
