"""The language: a tape is a straight line of numbered ops; it prints, replays and verifies itself.

    tape ::= op*
    op   ::= inp %n::spec              an argument's leaf, or the seed
           | const %n = value::spec    a captured array, or the seed of a scalar
           | %n = fn(arg, ...)::spec   a call
    arg  ::= %n | literal | (arg, ...) | [arg, ...] | {key: arg, ...} | arg:arg:arg

A number names one op for good: passes keep it, never reuse it, and `Tape.where` answers for every
number that was ever given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from yota.errors import GuardError, TapeError, YotaError
from yota.structs import Static, flatten, unflatten

COMMENT_COLUMN = 38


@dataclass(frozen=True, slots=True, order=True)
class Var:
    """The number of an op."""

    id: int

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"%{self.id}"


@dataclass(frozen=True, slots=True)
class Spec:
    """The type of a value: `kind` is array, scalar (NumPy's), python, tuple or object.

    `order` is the memory layout of an array: C, F, or K for any other.
    """

    kind: str
    dtype: Any = None
    shape: tuple[int, ...] = ()
    order: str = "C"
    items: tuple[Spec, ...] = ()

    @property
    def weak(self) -> bool:
        """Tell whether the value is a Python scalar, which never widens an array's dtype."""
        return self.kind == "python"

    @property
    def nbytes(self) -> int:
        """Bytes that the value takes."""
        if self.kind == "tuple":
            return sum(s.nbytes for s in self.items)
        return (
            0 if self.dtype is None else int(np.prod(self.shape, dtype=int)) * self.dtype.itemsize
        )

    def text(self, short: bool = False) -> str:
        """Return the spec as `float64[3,4]`, short as `f64[3,4]`."""
        if self.kind == "tuple":
            return f"({', '.join(s.text(short) for s in self.items)})"
        if self.dtype is None:
            return "object"
        name = _short(self.dtype) if short else str(self.dtype)
        return name + (f"[{','.join(map(str, self.shape))}]" if self.kind == "array" else "")

    def __str__(self) -> str:
        return self.text()


def _short(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "b":
        return "bool"
    return f"{dtype.kind}{8 * dtype.itemsize}" if dtype.kind in "fciu" else str(dtype)


def spec_of(value: Any) -> Spec:
    """Return the type of a plain value."""
    if isinstance(value, np.ndarray):
        return Spec("array", value.dtype, value.shape, _order(value))
    if isinstance(value, np.generic):
        return Spec("scalar", value.dtype)
    if isinstance(value, bool | int | float | complex):
        return Spec("python", np.dtype(type(value)))
    if isinstance(value, tuple | list):
        return Spec("tuple", items=tuple(spec_of(v) for v in value))
    return Spec("object")


def _order(value: np.ndarray[Any, Any]) -> str:
    return "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "K"


@dataclass(frozen=True, slots=True)
class Frame:
    """One place in the user's code; lines count from 1, columns from 0."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    qualname: str


Role = Literal["", "rule", "accumulate", "unbroadcast", "seed"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an op comes from: user frames, innermost first, and what a reverse op differentiates.

    `of` is the op whose rule runs, `wrt` the operand whose cotangent it contributes to.
    """

    frames: tuple[Frame, ...] = ()
    of: Var | None = None
    wrt: Var | None = None
    role: Role = ""
    note: str = ""

    @property
    def place(self) -> str:
        """The innermost user line as `file.py:4`, empty where there is none."""
        return f"{base_name(self.frames[0].file)}:{self.frames[0].line}" if self.frames else ""

    def comment(self) -> str:
        """Return what stands behind the op in a printed tape."""
        if self.note:
            return self.note
        if self.wrt is not None:
            return f"d{self.of}/d{self.wrt}" if self.of is not None else f"d/d{self.wrt}"
        return self.place


def base_name(path: str) -> str:
    """Return the last part of a path of either kind of system."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """What stands under a number: `Input`, `Constant` or `Call`."""

    spec: Spec
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Input(Op):
    """A leaf of an argument, named by parameter and path."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constant(Op):
    """A value that was captured; the array is a private copy."""

    value: Any
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Op):
    """A function applied to operands: vars, literals and containers of both."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The function's name as the tape prints it."""
        return fn_name(self.fn)

    @property
    def operands(self) -> list[Var]:
        """The vars that the call reads, in order, repeated as they stand."""
        found: list[Var] = []
        for x in (*self.args, *(v for _, v in self.kwargs)):
            if type(x) is Var:
                found.append(x)
            elif type(x) in _CONTAINERS:
                found.extend(vars_in(x))
        return found


_CONTAINERS = (tuple, list, dict, slice)


def fn_name(fn: Callable[..., Any]) -> str:
    """Return the name of a function as a tape prints it."""
    return str(getattr(fn, "__name__", None) or type(fn).__name__)


def vars_in(tree: Any) -> Iterator[Var]:
    """Yield the vars in an operand, from left to right."""
    kind = type(tree)
    if kind is Var:
        yield tree
    elif kind is tuple or kind is list:
        for t in tree:
            yield from vars_in(t)
    elif kind is dict:
        for t in tree.values():
            yield from vars_in(t)
    elif kind is slice:
        yield from vars_in((tree.start, tree.stop, tree.step))


def map_vars(tree: Any, fn: Callable[[Var], Any]) -> Any:
    """Return an operand with every var replaced by `fn(var)`."""
    kind = type(tree)
    if kind is Var:
        return fn(tree)
    if kind is tuple or kind is list:
        return kind([map_vars(t, fn) for t in tree])
    if kind is dict:
        return {k: map_vars(t, fn) for k, t in tree.items()}
    if kind is slice:
        return slice(map_vars(tree.start, fn), map_vars(tree.stop, fn), map_vars(tree.step, fn))
    return tree


@dataclass(frozen=True, slots=True)
class Guard:
    """Python read this value, as `how` says: bool, int or value; the tape holds while it is `expected`."""

    var: Var
    expected: Any
    how: str
    origin: Origin = Origin()

    def holds(self, value: Any) -> bool:
        """Tell whether `value` leads Python the same way."""
        if self.how == "bool":
            return bool(value) == self.expected
        if self.how == "int":
            return int(value) == self.expected
        return bool(np.array_equal(value, self.expected))


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a number: `kind` is itself, changed, merged, inside, inlined or dropped."""

    kind: str
    var: Var
    into: Var | None = None
    why: str = ""
    stage: str = ""
    iteration: int | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One rewrite of a pass: which op it dropped, merged or changed, into what and why."""

    stage: str
    kind: str
    var: Var
    into: Var | None
    why: str
    before: Op | None = None
    after: Op | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """How arguments become inputs: one structure per positional argument and keyword."""

    name: str = "f"
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    names: tuple[str, ...] = ()
    as_float: bool = False

    def leaves(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Return the numeric leaves of arguments that have this structure, else raise GuardError."""
        leaves: list[Any] = []
        given = (*args, *(kwargs[k] for k, _ in self.kwargs if k in kwargs))
        wanted = (*self.args, *(s for _, s in self.kwargs))
        if len(args) != len(self.args) or set(kwargs) != {k for k, _ in self.kwargs}:
            raise GuardError(
                f"{self.name} was recorded with {self._count()}; it was called with "
                f"{len(args)} arguments and keywords {sorted(kwargs)}"
            )
        for value, structure in zip(given, wanted, strict=True):
            if self.as_float:
                value = ints_to_floats(value)
            found, shape = flatten(value, first=len(leaves))
            if not _same_structure(shape, structure):
                raise GuardError(
                    f"an argument of {self.name} has another structure or another fixed value than "
                    "the one that was recorded; trace the function again with these arguments"
                )
            leaves += found
        return leaves

    def _count(self) -> str:
        return f"{len(self.args)} arguments and keywords {sorted(k for k, _ in self.kwargs)}"


def ints_to_floats(value: Any) -> Any:
    """Return `value` with its int leaves, arrays too, as floats."""
    leaves, structure = flatten(value, leaf=_is_int)
    return unflatten(structure, [_to_float(v) for v in leaves]) if leaves else value


def _is_int(x: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return bool(x.dtype.kind in "iu")
    return isinstance(x, int) and not isinstance(x, bool)


def _to_float(x: Any) -> Any:
    return (
        x.astype(float)
        if isinstance(x, np.ndarray)
        else np.float64(x)
        if isinstance(x, np.generic)
        else float(x)
    )


def _same_structure(a: Any, b: Any) -> bool:
    if isinstance(a, Static) and isinstance(b, Static):
        return a.value is b.value or (type(a.value) is type(b.value) and _equal(a.value, b.value))
    if hasattr(a, "children") and hasattr(b, "children"):
        if (a.number, a.type, a.keys) != (b.number, b.type, b.keys):
            return False
        return all(map(_same_structure, a.children, b.children))
    return bool(a == b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (ValueError, TypeError):
        return False


class Tape:
    """A straight line of ops, with what it was recorded from and what it hands back."""

    def __init__(self, entry: Entry | None = None) -> None:
        self.entry = entry or Entry()
        self.ops: dict[Var, Op] = {}
        self.inputs: list[Var] = []
        self.guards: list[Guard] = []
        self.result: Any = None
        self.gradients: tuple[Any, ...] | None = None
        self.seed: Var | None = None
        self.reverse_start: Var | None = None
        self.cotangents: dict[Var, Var] = {}
        self.fates: dict[Var, Fate] = {}
        self.rewrites: tuple[Rewritten, ...] = ()
        self.values: dict[Var, Any] | None = None
        self.next_id = 1

    def push(self, op: Op, var: Var | None = None) -> Var:
        """Append an op under `var`, or under the next fresh number."""
        if var is None:
            var = Var(self.next_id)
        if var in self.ops:
            raise TapeError(f"{var} is on the tape already")
        self.next_id = max(self.next_id, var.id + 1)
        self.ops[var] = op
        if isinstance(op, Input):
            self.inputs.append(var)
        return var

    def __getitem__(self, var: Var | int) -> Op:
        return self.ops[var if isinstance(var, Var) else Var(var)]

    def __contains__(self, var: object) -> bool:
        return var in self.ops

    def __iter__(self) -> Iterator[tuple[Var, Op]]:
        return iter(self.ops.items())

    def __len__(self) -> int:
        return len(self.ops)

    def __str__(self) -> str:
        return self.pretty()

    def __repr__(self) -> str:
        return f"<Tape of {self.entry.name}: {len(self)} ops>"

    @property
    def outputs(self) -> list[Var]:
        """The vars handed back, results first, then gradients, each once."""
        return list(dict.fromkeys((*self.result_vars, *self.gradient_vars)))

    @property
    def result_vars(self) -> list[Var]:
        """The vars in the function's result."""
        return list(tree_vars(self.result))

    @property
    def gradient_vars(self) -> list[Var]:
        """The vars of the gradients, one per differentiated leaf, in the order of the leaves."""
        return list(tree_vars(self.gradients))

    def is_reverse(self, var: Var) -> bool:
        """Tell whether `var` belongs to the reverse pass, the seed included."""
        return self.reverse_start is not None and var.id >= self.reverse_start.id

    def users(self) -> dict[Var, list[Var]]:
        """Return for each var the ops that read it, in tape order."""
        found: dict[Var, list[Var]] = {v: [] for v in self.ops}
        for var, op in self:
            if isinstance(op, Call):
                for operand in dict.fromkeys(op.operands):
                    found[operand].append(var)
        return found

    def where(self, number: Var | int) -> Fate:
        """Say what became of op `number`: itself, or merged, changed, inlined or dropped, and why."""
        var = number if isinstance(number, Var) else Var(number)
        fate = self.fates.get(var)
        if fate is None:
            if var not in self.ops:
                raise KeyError(f"no op was ever numbered {var}")
            return Fate("itself", var)
        into, why, seen = fate.into, [fate.why], {var}
        while into is not None and into not in self.ops and into not in seen:
            seen.add(into)
            onward = self.fates.get(into)
            if onward is None:
                break
            if onward.kind == "dropped":
                return replace(onward, var=var, why="; ".join([*why, onward.why]))
            why.append(onward.why)
            into = onward.into
        return replace(fate, into=into, why="; ".join(why))

    def survivor(self, number: Var | int) -> Var | None:
        """Return the op that holds the value of `number` now, None if it was dropped."""
        fate = self.where(number)
        if fate.kind in ("itself", "changed"):
            return fate.var
        return fate.into if fate.into in self.ops else None

    def value(self, number: Var | int) -> Any:
        """Return the value of an op; a merged one reads through to the op that took its place."""
        if self.values is None:
            raise YotaError(
                "this tape carries no values: fill them with tape.play(*args), "
                "or record with yota.gradtape or yota.trace"
            )
        var = self.survivor(number)
        if var is None or var not in self.values:
            raise YotaError(
                f"%{getattr(number, 'id', number)} has no value: {self.where(number).why}"
            )
        return self.values[var]

    def pretty(self, origins: bool = False, short: bool = False) -> str:
        """Return the tape as text, an op a line; `origins` adds names, lines and what is differentiated."""
        rows = [
            (f"  {format_op(v, op, short)}", comment_of(op) if origins else "") for v, op in self
        ]
        column = max(COMMENT_COLUMN, *(len(text) + 2 for text, _ in rows if len(text) < 72), 0)
        lines = [f"{text.ljust(column)}# {note}" if note else text for text, note in rows]
        return "\n".join(["Tape", *lines])

    def fingerprint(self) -> str:
        """Return a digest of the structure: functions, operands and types, without values."""
        digest = hashlib.sha256()
        for var, op in self:
            head = format_op(var, op) if not isinstance(op, Constant) else f"const {var}::{op.spec}"
            module = getattr(op.fn, "__module__", "") if isinstance(op, Call) else ""
            digest.update(f"{head} {module} {op.origin.frames[:1]}\n".encode())
        return digest.hexdigest()[:16]

    def verify(self) -> None:
        """Raise TapeError unless every operand stands before its user and every output on the tape."""
        seen: set[Var] = set()
        for var, op in self:
            for operand in op.operands if isinstance(op, Call) else ():
                if operand not in seen:
                    raise TapeError(
                        f"{var} = {format_op(var, op)} reads {operand} before it is defined"
                    )
            seen.add(var)
        for var in (*self.outputs, *(g.var for g in self.guards)):
            if var not in seen:
                raise TapeError(f"{var} is handed back or guarded but is not on the tape")

    def replay(self, leaves: Sequence[Any]) -> dict[Var, Any]:
        """Compute every value from the inputs' values, checking guards; nothing is kept."""
        return _Replay(self, leaves).run()

    def play(self, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """Replay the tape for arguments structured as those it was recorded with.

        Returns the function's value, with the gradients, one per argument, where the tape has a
        reverse pass; leaves every value on the tape.  Raises GuardError where these arguments would
        take another way through the function.
        """
        leaves = self.entry.leaves(args, kwargs)
        if self.seed is not None and isinstance(self.ops.get(self.seed), Input):
            if seed is None:
                raise GuardError("this tape was recorded with a seed array: give play(..., seed=)")
            leaves.append(seed)
        self.values = self.replay(leaves)
        return self.results_from(self.values)

    def results_from(self, values: dict[Var, Any]) -> Any:
        """Return value, or value and gradients, as the user's structures of fresh arrays."""
        value = hand_out(self.result, values)
        if self.gradients is None:
            return value
        return value, tuple(hand_out(g, values) for g in self.gradients)

    def compile(
        self, passes: Sequence[str] | None = None, form: str = "lean"
    ) -> Callable[..., Any]:
        """Return a generated function of the same arguments; see `yota.generate_source`.

        Form `lean` returns fresh arrays; `bound` also leaves every value on this tape.
        """
        from yota import program  # the one upward call: a method that users expect on the tape

        return program.compile_tape(self, passes, form)

    def shell(self) -> Tape:
        """Return a tape without ops that shares everything else: what a pass starts from."""
        new = Tape(self.entry)
        new.result, new.gradients, new.seed = self.result, self.gradients, self.seed
        new.reverse_start, new.cotangents = self.reverse_start, dict(self.cotangents)
        new.fates, new.next_id = dict(self.fates), self.next_id
        return new


@dataclass(frozen=True, slots=True)
class Structured:
    """A tree of vars and plain values: `leaves[i]` is a Var, or a value that was no op.

    `kinds[i]` is the kind of value that the caller gets: python, scalar, array, or "" for as it is.
    """

    structure: Any
    leaves: tuple[Any, ...]
    kinds: tuple[str, ...]


def tree_vars(tree: Any) -> Iterator[Var]:
    """Yield the vars of a result or of gradients."""
    if isinstance(tree, Structured):
        yield from (v for v in tree.leaves if isinstance(v, Var))
    elif isinstance(tree, tuple):
        for t in tree:
            yield from tree_vars(t)


def hand_out(tree: Any, values: Mapping[Var, Any]) -> Any:
    """Return a `Structured` as the caller's own: fresh arrays in the recorded structure."""
    if not isinstance(tree, Structured):
        return tree
    leaves = [
        as_kind(values[v] if isinstance(v, Var) else v, kind)
        for v, kind in zip(tree.leaves, tree.kinds, strict=True)
    ]
    return unflatten(tree.structure, leaves)


def as_kind(value: Any, kind: str) -> Any:
    """Return a value that nothing else refers to, as a Python number, NumPy scalar or array."""
    if kind == "python" and isinstance(value, np.ndarray | np.generic):
        return value.item()
    if kind == "array" or (kind == "" and isinstance(value, np.ndarray)):
        return np.array(value, order="K")
    return value[()] if kind == "scalar" and isinstance(value, np.ndarray) else value


class _Replay:
    def __init__(self, tape: Tape, leaves: Sequence[Any]) -> None:
        self.tape, self.leaves = tape, list(leaves)
        self.values: dict[Var, Any] = {}
        self.guards: dict[Var, list[Guard]] = {}
        for g in tape.guards:
            self.guards.setdefault(g.var, []).append(g)

    def run(self) -> dict[Var, Any]:
        if len(self.leaves) != len(self.tape.inputs):
            raise GuardError(
                f"the tape has {len(self.tape.inputs)} inputs, {len(self.leaves)} were given"
            )
        given = dict(zip(self.tape.inputs, self.leaves, strict=True))
        for var, op in self.tape:
            match op:
                case Input():
                    value = conform(given[var], op)
                case Constant():
                    value = op.value
                case Call():
                    value = self.call(var, op)
            self.values[var] = value
            for guard in self.guards.get(var, ()):
                check_guard(guard, value)
        return self.values

    def call(self, var: Var, op: Call) -> Any:
        args = map_vars(op.args, self.values.__getitem__)
        kwargs = {k: map_vars(v, self.values.__getitem__) for k, v in op.kwargs}
        try:
            value = op.fn(*args, **kwargs)
        except Exception as error:
            error.add_note(f"while replaying {format_op(var, op)}  {op.origin.place}")
            raise
        check_shape(var, op, value)
        return value


def check_guard(guard: Guard, value: Any) -> None:
    """Raise GuardError where Python would now go another way."""
    if not guard.holds(value):
        raise GuardError(
            f"{guard.var} was {_brief(guard.expected)} when the tape was recorded and Python branched on "
            f"it ({guard.origin.place or 'in the traced function'}); it is {_brief(value)} now: "
            "trace the function again with these arguments"
        )


def check_shape(var: Var, op: Call, value: Any) -> None:
    """Raise GuardError where a result has another shape than the recorded one."""
    if op.spec.kind == "array" and np.shape(value) != op.spec.shape:
        raise GuardError(
            f"{format_op(var, op)} has shape {np.shape(value)} for these arguments "
            f"({op.origin.place}): trace the function again with them"
        )


def _brief(value: Any) -> str:
    return repr(value) if np.ndim(value) == 0 else f"an array of shape {np.shape(value)}"


def conform(value: Any, op: Input) -> Any:
    """Return an input's value in the recorded layout; raise GuardError for another type."""
    have = spec_of(value)
    if (have.kind, have.dtype, have.shape) != (op.spec.kind, op.spec.dtype, op.spec.shape):
        raise GuardError(
            f"{op.name} was recorded as {op.spec}, it is {have} now: trace the function again"
        )
    if have.order != op.spec.order and op.spec.order in "CF":
        return np.array(value, order=op.spec.order)  # type: ignore[call-overload]  # C or F
    return value


def comment_of(op: Op) -> str:
    """Return what explains an op: an input's or constant's name, else its origin."""
    if isinstance(op, Input | Constant) and op.name:
        return op.name
    return op.origin.comment()


def format_op(var: Var, op: Op, short: bool = False) -> str:
    """Return one op as the tape prints it."""
    match op:
        case Input():
            return f"inp {var}::{op.spec.text(short)}"
        case Constant():
            return f"const {var} = {format_value(op.value)}::{op.spec.text(short)}"
        case Call():
            return f"{var} = {format_call(op)}::{op.spec.text(short)}"
    raise TapeError(f"{var} is no op: {op!r}")


def format_call(op: Call) -> str:
    """Return a call as `sum(%3, axis=0)`."""
    parts = [format_arg(a) for a in op.args]
    parts += [f"{k}={format_arg(v)}" for k, v in op.kwargs]
    return f"{op.name}({', '.join(parts)})"


def format_arg(tree: Any) -> str:
    """Return an operand as text."""
    match tree:
        case tuple():
            items = ", ".join(map(format_arg, tree))
            return f"({items},)" if len(tree) == 1 else f"({items})"
        case list():
            return f"[{', '.join(map(format_arg, tree))}]"
        case dict():
            return "{" + ", ".join(f"{k!r}: {format_arg(v)}" for k, v in tree.items()) + "}"
        case slice():
            ends = ["" if t is None else format_arg(t) for t in (tree.start, tree.stop)]
            return ":".join(ends) + ("" if tree.step is None else f":{format_arg(tree.step)}")
    if tree is Ellipsis:
        return "..."
    return format_value(tree)


def format_value(value: Any) -> str:
    """Return a literal or constant as text; a big array as `[...]`."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 4 else "[...]"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, type) or callable(value):
        return fn_name(value)
    return str(value) if isinstance(value, np.dtype) else repr(value)
