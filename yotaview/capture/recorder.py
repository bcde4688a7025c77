"""Turn the engine's events into rows."""

from __future__ import annotations

import linecache
import math
import threading
import weakref
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.frames import user_frames
from yota.program import Called, CallRecord, Failed, Program
from yota.tape import Constant, Frame, Tape, Var, base_name, fn_name, spec_of
from yotaview.capture.functions import users_ops
from yotaview.capture.keep import Keeper, Pool
from yotaview.capture.rows import Failure, KeptCall, Limits, Row
from yotaview.capture.structure import gradient_names, structure_of

Key = tuple[str, Frame | None, str, str]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is read off a program's tape once."""

    structure: str
    literals: tuple[Any, ...]
    constants: dict[Var, Any]
    users: list[Var]


class Recorder:
    """Rows under way; an observer of the engine."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rows: dict[Key, Row] = {}
        self.keepers: dict[Key, Keeper] = {}
        self.failures: list[tuple[Row, BaseException]] = []
        self.left_out = 0
        self.unwanted: dict[str, None] = {}
        self.thinned = False
        self.pool = Pool()
        self._lock = threading.Lock()
        self._facts: weakref.WeakKeyDictionary[Program, Facts] = weakref.WeakKeyDictionary()

    def __call__(self, event: Any) -> None:
        """Take one event of the engine."""
        with self._lock:
            if isinstance(event, Called):
                self._called(event.program, event.call)
            elif isinstance(event, Failed):
                self._failed(event)

    def _called(self, program: Program, call: CallRecord) -> None:
        tape = program.tape
        site = call.site[0] if call.site else None
        if not self._wanted(tape.entry.name, call.site):
            return
        facts = self._facts_of(program)
        key = (tape.entry.name, site, call.kind, facts.structure)
        row = self.rows.get(key)
        if row is None:
            if len(self.rows) >= self.limits.max_tapes:
                self.left_out += 1
                return
            row = Row(tape.entry.name, site, program, tape, call.kind, literals=facts.literals)
            self.rows[key] = row
            self.keepers[key] = Keeper(self.pool)
        finite = count_call(row, call)
        known = _users_values(tape, call, facts.users)
        kept = KeptCall(
            row.count, call.inputs, facts.constants, call.value, (), known, facts.literals
        )
        self.keepers[key].add(kept, finite)
        self._fit()

    def _facts_of(self, program: Program) -> Facts:
        found = self._facts.get(program)
        if found is None:
            tape = program.tape
            constants = {v: op.value for v, op in tape if isinstance(op, Constant)}
            found = Facts(*structure_of(tape), constants, users_ops(tape))
            self._facts[program] = found
        return found

    def _wanted(self, name: str, site: tuple[Frame, ...]) -> bool:
        only = self.limits.only
        places = [(f"{base_name(f.file)}:{f.line}", f"{f.file}:{f.line}") for f in site]
        if only is None or name == only or any(only in names for names in places):
            return True
        self.unwanted[f"{name} ({places[0][0]})" if places else name] = None
        return False

    def _fit(self) -> None:
        """Thin the biggest rows until everything fits the limit."""
        spent: set[Key] = set()
        while self.pool.nbytes > self.limits.max_bytes:
            left = [k for k in self.keepers if k not in spent]
            if not left:
                return
            biggest = max(left, key=lambda k: self.keepers[k].nbytes)
            if self.keepers[biggest].thin():
                self.thinned = True
            else:
                spent.add(biggest)

    def _failed(self, event: Failed) -> None:
        if any(error is event.error for _, error in self.failures):
            return
        site = next(iter(user_frames()), None)
        failure = Failure(_failure_text(event), event.origin, error_text(event.error))
        row = Row(event.tape.entry.name, site, None, event.tape, "failed", failure=failure)
        if self._wanted(row.name, event.origin.frames):
            _own_values(event.tape, self.limits.max_bytes)
            self.failures.append((row, event.error))
            del self.failures[: -self.limits.max_tapes]

    def finished(self) -> list[Row]:
        """Return the rows in the order of their first call, those that raised last."""
        for key, row in self.rows.items():
            row.calls = self.keepers[key].calls()
        return [*self.rows.values(), *(row for row, _ in self.failures)]


def count_call(row: Row, call: CallRecord) -> bool:
    """Add a call to the history of its row; tell whether value and gradients are finite."""
    row.count += 1
    with np.errstate(all="ignore"):
        finite = _all_finite(call.value) and all(map(_all_finite, call.gradients))
        number = _as_float(call.value)
        if number is not None:
            row.values.append(number)
        if row.has_gradient:
            parts = [_norm(g) for g in call.gradients]
            row.norms.append(math.hypot(*parts))
            _count_parts(row, parts)
    if not finite:
        row.nonfinite.append(row.count)
    return finite


def _as_float(value: Any) -> float | None:
    if isinstance(value, bool | int | float | np.number | np.ndarray) and np.ndim(value) == 0:
        try:
            return float(np.real(value))
        except OverflowError:  # an integer beyond every float
            return math.inf if value > 0 else -math.inf
    return None


def _all_finite(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_all_finite, value))
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    if isinstance(value, float | complex | np.inexact | np.ndarray):
        x = np.asarray(value)
        return x.dtype.kind not in "fc" or bool(np.isfinite(x).all())
    return True


def _norm(gradient: Any) -> float:
    return 0.0 if gradient is None else float(np.linalg.norm(np.asarray(gradient).ravel()))


def _count_parts(row: Row, parts: Sequence[float]) -> None:
    """Add the norms of the gradients of a call, each to that of its input."""
    if row.count == 1:
        names = gradient_names(row.tape)
        if len(set(names)) < len(names):
            names = [f"{name} {k}" for k, name in enumerate(names, 1)]
        row.by_key = {name: array("d") for name in names} if len(names) == len(parts) else {}
    if not row.by_key:
        return
    for history, norm in zip(row.by_key.values(), parts, strict=True):
        history.append(norm)


def _users_values(tape: Tape, call: CallRecord, wanted: list[Var]) -> dict[Var, Any]:
    """Return the values of the user's own functions, which nothing may run again later."""
    if not wanted:
        return {}
    values: dict[Var, Any] = dict(tape.values or {})
    return {v: values[v] for v in wanted if v in values} or _replayed(tape, call, wanted)


def _replayed(tape: Tape, call: CallRecord, wanted: list[Var]) -> dict[Var, Any]:
    try:
        with np.errstate(all="ignore"):
            values = tape.replay(call.inputs)
    except Exception:  # the call itself went well; its values are then shown as not kept
        return {}
    return {v: values[v] for v in wanted}


def _failure_text(event: Failed) -> str:
    """Return the operation with operands, then the shapes: `matmul(%4, ones(3)): (4,) @ (3,)`."""
    if event.fn is None:
        frame = next(iter(event.origin.frames), None)
        return linecache.getline(frame.file, frame.line).strip() if frame is not None else ""
    tape = event.tape
    operands = [_var_of(a, tape) for a in event.operands]
    text = f"{fn_name(event.fn)}({', '.join(map(_operand, operands))})"
    shapes = [_shape(a, tape) for a in operands]
    known = [s for s in shapes if s is not None]
    joint = " @ " if fn_name(event.fn) == "matmul" else ", "
    return f"{text}: {joint.join(map(str, known))}" if known else text


def _own_values(tape: Tape, limit: int) -> None:
    """Copy the values of a tape that goes no further, so that the script cannot change them."""
    values = tape.values
    if values is None:
        return
    size = sum(x.nbytes for x in values.values() if isinstance(x, np.ndarray))
    if size > limit:
        tape.values = None
        return
    tape.values = {v: x.copy() if isinstance(x, np.ndarray) else x for v, x in values.items()}


def _var_of(a: Any, tape: Tape) -> Any:
    """Return the op whose value an operand is, the operand itself where there is none."""
    if not isinstance(a, np.ndarray | np.generic) or not tape.values:
        return a
    var = next((v for v, x in reversed(tape.values.items()) if x is a), None)
    if var is None or (isinstance(op := tape[var], Constant) and not op.name):
        return a
    return var


def _operand(a: Any) -> str:
    if isinstance(a, Var):
        return repr(a)
    if isinstance(a, np.ndarray):
        return _array(a)
    return repr(a)[:60]


def _array(a: np.ndarray[Any, Any]) -> str:
    shape = ", ".join(map(str, a.shape))
    for name, value in (("ones", 1), ("zeros", 0)):
        if a.size and bool(np.all(a == value)):
            return f"{name}({shape if a.ndim == 1 else f'({shape})'})"
    return spec_of(a).text(short=True)


def _shape(a: Any, tape: Tape) -> tuple[int, ...] | None:
    if isinstance(a, Var) and a in tape:
        spec = tape[a].spec
        return None if spec.kind in ("tuple", "object") else spec.shape
    return a.shape if isinstance(a, np.ndarray) else None


def error_text(error: BaseException) -> str:
    """Return an error in a line, as `ValueError: ...`."""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"
