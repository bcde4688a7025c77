"""The recorder: a tape under way, with the values of its ops."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from yota.arrays import copy_layout
from yota.errors import TraceError
from yota.frames import innermost, user_frames
from yota.rules.functional import raises
from yota.rules.registry import PRIMITIVES
from yota.structs import SEQUENCES, hidden, is_leaf
from yota.tape import (
    Call,
    Constant,
    Entry,
    Guard,
    Input,
    Origin,
    Tape,
    Var,
    fn_name,
    kind_text,
    spec_of,
)
from yota.tracing.box import BOXES, BUSY, CURRENT, Traced, brief
from yota.tracing.cures import cure_of_call
from yota.tracing.foreign import is_foreign, plain_of, seen_by_numpy
from yota.tracing.varying import dtype_varies, shape_varies
from yota.tracing.views import follow, sync


def current() -> Trace | None:
    """Return the trace under way in this thread or task, None outside."""
    trace: Trace | None = CURRENT.get()
    # a task that began inside a traced function keeps its context when the trace is over
    return trace if trace is not None and trace.base is not None else None


@dataclass(frozen=True, slots=True)
class Failure:
    """The call that raised while it was recorded."""

    fn: Callable[..., Any]
    operands: tuple[Any, ...]
    origin: Origin
    error: BaseException


# which warnings were shown, by file: a line warns once, as Python's default has it
_WARNED: dict[str, dict[Any, Any]] = {}


# the call on a tape, the operand of that call
Place = tuple[int, int]
LIFTED = frozenset({float, complex, np.float64, np.float32, np.complex128})


def may_lift(fn: Any) -> bool:
    """Tell whether a number among the operands may as well be a constant of its own."""
    return isinstance(fn, np.ufunc) or fn is np.where or getattr(operator, fn_name(fn), None) is fn


class Trace:
    """A tape that is being recorded, with the values of its ops."""

    def __init__(self, entry: Entry, outer: tuple[Any, ...] = ()) -> None:
        self.tape = Tape(entry)
        self.values: dict[Var, Any] = {}
        self.outer = outer
        self.base: Any = None
        self.mark: Origin | None = None
        self.escaped: TraceError | None = None
        self.failure: Failure | None = None
        self.captured: dict[int, tuple[Any, Any, Var]] = {}
        self.running = ""
        self.told = ""
        self.raised: Any = None
        self.without_use: set[Var] = set()
        # what was written into, and whether the memory layout decided which names saw it
        self.written: set[Var] = set()
        self.by_layout = False
        # numbers that vary from call to call, each to be a constant with a number of its own
        self.varying: set[Place] = set()
        self.calls = 0

    @contextmanager
    def under_way(self, base: Any = None) -> Iterator[None]:
        """Let boxes record on this trace; `base` is the frame below the user's function."""
        BUSY.append(None)
        token = CURRENT.set(self)
        before, self.base = self.base, self.base or base
        try:
            with np.errstate(**self.warnings_at_the_users_line()):
                yield
        finally:
            self.base = before
            CURRENT.reset(token)
            BUSY.pop()

    def warnings_at_the_users_line(self) -> dict[str, Any]:
        """Return settings that let NumPy's floating-point warnings name the user's line."""
        warning = {k: "call" for k, mode in np.geterr().items() if mode == "warn"}
        if not warning or np.geterrcall() is not None:
            return {}
        return {**warning, "call": self.warn}

    def warn(self, what: str, flag: int) -> None:
        """Issue a floating-point warning as NumPy words it."""
        frames = self.origin().frames
        text = f"{what} encountered" + (f" in {self.running}" if self.running else "")
        if frames:
            file, line = frames[0].file, frames[0].line
            warnings.warn_explicit(
                text, RuntimeWarning, file, line, registry=_WARNED.setdefault(file, {})
            )
        else:
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def marked(self, mark: Origin | None) -> _Marked:
        """Give every op that is recorded inside this origin."""
        return _Marked(self, mark)

    def origin(self) -> Origin:
        """Return where the op that is being recorded comes from."""
        return self.mark or Origin(user_frames(self.base) + self.outer)

    def push(self, op: Any, value: Any) -> Traced:
        """Append an op whose value is known and return its box."""
        var = self.tape.push(op)
        self.calls += type(op) is Call
        self.values[var] = value
        return Traced(self, var, value)

    def constant(self, value: Any, origin: Origin | None = None) -> Traced:
        """Return the box of a captured value; an array is copied, once per content."""
        if not isinstance(value, np.ndarray):
            op = Constant(spec=spec_of(value), value=value, origin=origin or self.origin())
            return self.push(op, value)
        known = self.captured.get(id(value))
        if known is not None and _same_bytes(known[1], value):
            return Traced(self, known[2], known[1])
        copy = copy_layout(value)
        where = origin or self.origin()
        name = "" if self.mark else name_of(value, self.base)
        box = self.push(Constant(spec=spec_of(copy), value=copy, origin=where, name=name), copy)
        self.captured[id(value)] = (value, copy, box._var)
        return box

    def unused(self, zeros: Any) -> Traced:
        """Return the cotangent of an output that nothing was made of."""
        op = Constant(spec=spec_of(zeros), value=zeros, origin=self.origin())
        box = self.push(op, zeros)
        self.without_use.add(box._var)
        return box

    def record(self, fn: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        """Run `fn` on its operands' values and append the call; return boxes of its result."""
        self.guard_what_was_caught()
        lower = _Lower(self, fn)
        op_args, values = lower.tree(tuple(args))
        if self.varying:
            op_args = self.lifted(fn, op_args)
        op_kwargs, kw_values = lower.tree(kwargs)
        origin = self.origin()
        if is_users(fn):
            values, kw_values = read_only(values), read_only(kw_values)
        result = self.run(fn, values, kw_values, (op_args, op_kwargs, origin))
        if isinstance(result, np.ndarray) and type(result) is not np.ndarray:
            raise TraceError(
                f"{fn_name(fn)} gave a {type(result).__name__} ({origin.place}); subclasses of "
                "arrays are not followed: pass np.asarray(x) into the function"
            )
        call = Call(
            spec=spec_of(result),
            origin=origin,
            fn=fn,
            args=op_args,
            kwargs=tuple(op_kwargs.items()),
        )
        if call.spec.dtype is not None and call.spec.dtype.hasobject:
            raise TraceError(
                f"{origin.place}: {fn_name(fn)} gave an array of objects, which is not followed: "
                "use arrays of numbers"
            )
        if isinstance(result, tuple | list):
            return self.unpack(self.push(call, result), result, lower.boxes)
        if call.spec.dtype is None:
            return self.plain(fn, result, origin)
        if is_users(fn):
            result = writable(result, values, lower.boxes)
        box = self.push(call, result)
        self.guard_type(call, box)
        return follow(box, fn, args, kwargs, lower.boxes)

    def lifted(self, fn: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return operands with the numbers that vary from call to call as constants."""
        if not may_lift(fn):
            return args
        return tuple(
            self.constant(x)._var if type(x) in LIFTED and (self.calls, at) in self.varying else x
            for at, x in enumerate(args)
        )

    def run(self, fn: Any, values: Any, kw_values: Any, call: tuple[Any, Any, Origin]) -> Any:
        """Return `fn` of plain values; an error is explained, and kept in case it is caught."""
        op_args, op_kwargs, origin = call
        self.running = fn_name(fn)
        try:
            return fn(*values, **kw_values)
        except Exception as error:
            self.explain(error, fn, values, kw_values, origin)
            self.raised = (fn, type(error), op_args, tuple(op_kwargs.items()), origin)
            raise
        finally:
            self.running = ""

    def guard_what_was_caught(self) -> None:
        """Guard that a call raises which the user's function caught: else it took another way."""
        if self.raised is None:
            return
        fn, error, args, kwargs, origin = self.raised
        self.raised = None
        call = Call(
            spec=spec_of(True), origin=origin, fn=raises, args=(fn, error, *args), kwargs=kwargs
        )
        box = self.push(call, True)
        self.tape.guards.append(Guard(box._var, True, "bool", origin))

    def plain(self, fn: Any, result: Any, origin: Origin) -> Any:
        """Return a result that is no number; a primitive's must not hide arrays."""
        if is_users(fn) and hidden(result, is_leaf) is not None:
            raise TraceError(
                f"{origin.place}: the primitive {fn_name(fn)} returned a {type(result).__name__}; "
                "a primitive returns numbers, arrays, or a tuple or list of them"
            )
        return result

    def unpack(self, whole: Traced, result: Any, boxes: list[Traced]) -> Any:
        """Return a box for each item of a tuple or list, in a container of the same type."""
        items = []
        for k, value in enumerate(result):
            call = Call(
                spec=spec_of(value), origin=self.origin(), fn=operator.getitem, args=(whole._var, k)
            )
            box = self.push(call, value)
            self.guard_type(self.tape[whole._var], box)
            items.append(follow(box, operator.getitem, None, None, boxes))
        if hasattr(type(result), "_fields"):
            return type(result)(*items)
        return type(result)(items)

    def explain(
        self, error: BaseException, fn: Any, values: Any, kw_values: Any, origin: Origin
    ) -> None:
        """Add the op, its operands' types and the user's line to an error raised by NumPy."""
        shown = [brief(v) for v in values] + [f"{k}={brief(v)}" for k, v in kw_values.items()]
        error.add_note(f"yota: in {fn_name(fn)}({', '.join(shown)})  {origin.place}".rstrip())
        self.failure = Failure(fn, tuple(values), origin, error)

    def guard(self, box: Traced, expected: Any, how: str) -> None:
        """Note that Python read the value of `box`."""
        self.tape.guards.append(Guard(box._var, expected, how, self.origin()))

    def is_of_integers(self, box: Traced) -> bool:
        """Tell whether a value was computed of integers alone, and so is a constant."""
        op = self.tape[box._var]
        operands = op.operands if isinstance(op, Call) else []
        dtypes = [self.tape[v].spec.dtype for v in operands]
        return bool(dtypes) and all(d is not None and d.kind in "biu" for d in dtypes)

    def guard_type(self, call: Any, box: Traced) -> None:
        """Guard a shape or dtype that depends on values: Python reads both without asking."""
        if shape_varies(call, self.tape) and np.ndim(box._value):
            self.guard(box, np.shape(box._value), "shape")
        if dtype_varies(call, self.tape):
            self.guard(box, kind_text(box._value), "type")

    def pin(self) -> None:
        """Note on the inputs what of their memory decided where a write went."""
        ops = self.tape.ops
        for var in self.tape.inputs:
            value, op = self.values[var], ops[var]
            if isinstance(op, Input) and isinstance(value, np.ndarray):
                writeable = value.flags.writeable if var in self.written else None
                if self.by_layout or writeable is not None:
                    ops[var] = replace(op, pinned=self.by_layout, writeable=writeable)

    def tell(self) -> None:
        """Note where a text is made of a traced value: the tape does not depend on it."""
        if self.base is not None and not self.told:
            self.told = self.origin().place or "in the traced function"

    def escape(self, box: Traced, through: str, cure: str) -> TraceError:
        """Return, and remember, the error of a value that would leave the trace."""
        place = self.origin().place
        through, cure = cure_of_call(self.base) or (through, cure)
        self.escaped = TraceError(
            f"{place + ': ' if place else ''}a traced {spec_of(box._value)} leaves NumPy's sight "
            f"through {through}; {cure}"
        )
        return self.escaped


def is_users(fn: Any) -> bool:
    """Tell whether `fn` is a primitive of the user's."""
    return fn in PRIMITIVES and not (fn.__module__ or "").startswith("yota.")


def read_only(tree: Any) -> Any:
    """Return operands that a primitive cannot write into: they are the caller's, or the tape's."""
    if isinstance(tree, np.ndarray):
        view = tree.view()
        view.flags.writeable = False
        return view
    if type(tree) in (tuple, list):
        return type(tree)(read_only(t) for t in tree)
    return {k: read_only(t) for k, t in tree.items()} if type(tree) is dict else tree


def writable(result: Any, values: Any, boxes: list[Traced]) -> Any:
    """Return the operand itself where a primitive returned the view of it that it was given."""
    for value in values:
        if result is value and isinstance(value, np.ndarray):
            return next((b._value for b in boxes if b._value is value.base), value)
    return result


def _same_bytes(a: Any, b: Any) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "O":
        return False
    if a.dtype.kind in "fc":
        same = (a == b) & (np.signbit(a.real) == np.signbit(b.real)) | ((a != a) & (b != b))
        return bool(np.all(same))
    return bool(np.array_equal(a, b))


def name_of(value: Any, base: Any) -> str:
    """Return the variable that holds this very object in the user's innermost frame, else ''."""
    frame = innermost(base)
    if frame is None:
        return ""
    for names in (frame.f_locals, frame.f_globals):
        try:
            name = _holder(names, value)
        except RuntimeError:  # another thread added a name meanwhile: a copy is made in one piece
            name = _holder(dict(names), value)
        if name:
            return name
    return ""


def _holder(names: Mapping[str, Any], value: Any) -> str:
    found = (n for n, held in names.items() if held is value and n.isidentifier())
    return next(found, "")


class _Marked:
    """An origin for what is recorded inside: a context manager without a generator's cost."""

    __slots__ = ("before", "mark", "trace")

    def __init__(self, trace: Trace, mark: Origin | None) -> None:
        self.trace, self.mark = trace, mark

    def __enter__(self) -> None:
        self.before, self.trace.mark = self.trace.mark, self.mark

    def __exit__(self, *error: object) -> None:
        self.trace.mark = self.before


class _Lower:
    """Split operands into what the tape holds and the values to run on."""

    def __init__(self, trace: Trace, fn: Any) -> None:
        self.trace, self.fn = trace, fn
        self.boxes: list[Traced] = []

    def tree(self, x: Any) -> tuple[Any, Any]:
        kind = type(x)
        if kind in BOXES:
            return self.box(x)
        if kind is float or kind is int or kind is str or x is None:
            return x, x
        if isinstance(x, SEQUENCES):
            # a plain sequence: what NumPy makes of a subclass is the same
            make = tuple if isinstance(x, tuple) else list
            pairs = [self.tree(t) for t in x]
            return make([p[0] for p in pairs]), make([p[1] for p in pairs])
        if isinstance(x, dict):
            found = {k: self.tree(t) for k, t in x.items()}
            return {k: p[0] for k, p in found.items()}, {k: p[1] for k, p in found.items()}
        if kind is slice:
            pairs = [self.tree(t) for t in (x.start, x.stop, x.step)]
            return slice(*(p[0] for p in pairs)), slice(*(p[1] for p in pairs))
        if isinstance(x, np.ndarray):
            return self.array(x)
        return self.other(x)

    def other(self, x: Any) -> tuple[Any, Any]:
        if not is_users(self.fn):
            kind: Any = type(x)
            plain = seen_by_numpy(x, self.trace.origin().place) if is_foreign(kind) else x
            if isinstance(plain, np.ndarray):
                return self.array(plain)
            return plain, plain
        return x, x

    def box(self, x: Traced) -> tuple[Any, Any]:
        if x._trace is not self.trace:
            raise TraceError(
                f"a traced {spec_of(x._value)} is used after its function returned, or in another "
                "thread: return it from the function instead of storing it"
            )
        sync(x)
        self.boxes.append(x)
        return x._var, x._value

    def array(self, x: Any) -> tuple[Any, Any]:
        if type(x) is not np.ndarray:
            raise TraceError(
                f"a {type(x).__name__} meets a traced value ({self.trace.origin().place}); "
                f"subclasses of arrays are not followed: {plain_of(x)}"
            )
        made = self.trace.constant(x)
        return made._var, made._value
