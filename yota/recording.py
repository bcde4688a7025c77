"""Run a user's function under a trace: arguments become boxes, its result becomes the tape's."""

from __future__ import annotations

import array
import inspect
import numbers
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from yota.arrays import copy_layout
from yota.errors import TraceError
from yota.frames import traceback_frames, user_frames, users_first
from yota.program import Failed, notify, observed
from yota.reverse import SEED, backprop
from yota.rules.functional import cast, identity, item
from yota.structs import (
    Leaf,
    Static,
    flatten,
    hidden,
    is_float,
    is_leaf,
    map_structure,
    nothing_like,
    parts,
    paths,
    statics,
    unflatten,
)
from yota.tape import (
    Entry,
    Input,
    Origin,
    Spec,
    Structured,
    Tape,
    Var,
    as_kind,
    hand_out,
    ints_to_floats,
    spec_of,
)
from yota.tracing import Trace, Traced, current, sync
from yota.tracing.foreign import plain_of


def is_boxed_leaf(x: Any) -> bool:
    """Tell whether `x` is a box or a numeric leaf."""
    return isinstance(x, Traced) or is_leaf(x)


@dataclass(slots=True)
class Argument:
    """One argument: its structure, and the box of each of its leaves, None for a static one."""

    structure: Any
    boxes: dict[int, Traced]
    wanted: dict[int, Var]
    kinds: dict[int, str]


class Recording:
    """A function, run once on boxes: on the tape of the trace around it, else on its own."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: Sequence[int] | None = None,
    ) -> None:
        outer = current()
        self.nested = outer is not None
        self.site = user_frames()
        self.as_float = not any(is_float(x) for a in args for x in flatten(a)[0])
        if self.as_float:
            args = tuple(ints_to_floats(a) for a in args)
        self.trace = outer or Trace(Entry(), self.site)
        self.start = self.trace.tape.next_id
        self.arguments: list[Argument] = []
        self.inputs: list[Any] = []
        self.read_arguments(f, args, kwargs, argnums)
        self.output: Any = None
        self.aux: Any = None

    @property
    def tape(self) -> Tape:
        """The tape that this call is recorded on."""
        return self.trace.tape

    def read_arguments(
        self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any
    ) -> None:
        """Give every leaf of every argument a number and a box."""
        names = parameter_names(f, len(args))
        first = 0
        wanted = range(len(args)) if argnums is None else [n % len(args) for n in argnums]
        structures = []
        for k, value in enumerate((*args, *kwargs.values())):
            leaves, structure = flatten(value, first, is_boxed_leaf)
            refuse_hidden(structure)
            name = names[k] if k < len(args) else list(kwargs)[k - len(args)]
            if k in wanted:
                refuse_unfollowed(structure, name)
            self.arguments.append(self.read(leaves, structure, name, first, k in wanted))
            structures.append(structure)
            first += len(leaves)
        self.call_args = [self.boxed(a) for a in self.arguments[: len(args)]]
        self.call_kwargs = dict(
            zip(kwargs, map(self.boxed, self.arguments[len(args) :]), strict=True)
        )
        if not self.nested:
            fixed = tuple(structures[: len(args)])
            keys = tuple(zip(kwargs, structures[len(args) :], strict=True))
            self.tape.entry = Entry(function_name(f), fixed, keys, tuple(names), self.as_float)
        del self.arguments[len(args) :]

    def read(
        self, leaves: list[Any], structure: Any, name: str, first: int, wanted: bool
    ) -> Argument:
        """Return one argument with a box for each of its leaves."""
        found = dict(paths(structure, name))
        argument = Argument(structure, {}, {}, {})
        for k, leaf in enumerate(leaves, start=first):
            box = self.fresh(leaf) if self.nested else self.input(leaf, found[k])
            argument.boxes[k] = box
            argument.kinds[k] = kind_of(leaf)
            if wanted and is_float(leaf):
                argument.wanted[k] = box._var
        return argument

    def input(self, leaf: Any, name: str) -> Traced:
        """Put a leaf on the tape as an input and return its box."""
        if isinstance(leaf, np.ndarray):
            if type(leaf) is not np.ndarray:
                raise TraceError(
                    f"argument {name} is a {type(leaf).__name__}; subclasses of arrays are not "
                    f"followed: {plain_of(leaf)}"
                )
            writeable = leaf.flags.writeable
            leaf = copy_layout(leaf)  # whoever holds the array may write into it meanwhile
            leaf.flags.writeable = writeable
        self.inputs.append(leaf)
        spec = spec_of(leaf)
        strides = leaf.strides if spec.order == "K" else None
        op = Input(spec=spec, name=name, origin=Origin(self.site), strides=strides)
        return self.trace.push(op, leaf)

    def fresh(self, leaf: Any) -> Traced:
        """Return the leaf under a number of its own: an outer use of it does not count here."""
        box: Traced = self.trace.record(identity, (leaf,), {})
        return box

    def boxed(self, argument: Argument) -> Any:
        """Return an argument as the function gets it, with boxes for its leaves."""
        return unflatten(argument.structure, argument.boxes)

    def run(self, f: Callable[..., Any], has_aux: bool = False) -> Any:
        """Call `f` on the boxes and return its output, with boxes in it."""
        if self.nested:
            output = f(*self.call_args, **self.call_kwargs)
        else:
            with self.trace.under_way(sys._getframe()):
                output = self.guarded(f)
        self.output, self.aux = split_aux(output) if has_aux else (output, None)
        if not self.nested:
            self.tape.result = self.structured(output)
            self.trace.pin()
        return self.output

    def guarded(self, f: Callable[..., Any]) -> Any:
        """Call `f`; a value that left the trace is an error even if the function swallowed it."""
        try:
            output = f(*self.call_args, **self.call_kwargs)
        except BaseException as error:
            self.report(error)
            if self.trace.escaped is not None and error is not self.trace.escaped:
                raise users_first(self.trace.escaped) from error
            raise users_first(error)  # noqa: B904 - the error itself, with fewer frames
        if self.trace.escaped is not None:
            self.report(self.trace.escaped)
            raise self.trace.escaped
        self.trace.guard_what_was_caught()
        return output

    def report(self, error: BaseException) -> None:
        """Tell observers which call raised, and where."""
        if not observed():
            return
        self.tape.values = dict(self.trace.values)
        failure = self.trace.failure
        if failure is not None and failure.error is error:
            notify(Failed(self.tape, failure.fn, failure.operands, failure.origin, error))
        else:
            notify(Failed(self.tape, None, (), Origin(traceback_frames(error) + self.site), error))

    def structured(self, tree: Any) -> Structured:
        """Return a tree of boxes as the tape keeps it."""
        leaves, structure = flatten(tree, leaf=is_boxed_leaf)
        self.refuse_boxes(structure)
        kept = []
        for leaf in leaves:
            if not isinstance(leaf, Traced):
                kept.append(leaf.copy() if isinstance(leaf, np.ndarray) else leaf)
                continue
            sync(leaf)
            kept.append(leaf._var)
        return Structured(structure, tuple(kept), ("",) * len(kept))

    def refuse_boxes(self, structure: Any) -> None:
        """Raise TraceError where a result holds traced values in something not taken apart."""
        for value in statics(structure):
            box = hidden(value, lambda x: isinstance(x, Traced))
            if box is not None:
                raise self.trace.escape(
                    box,
                    f"the result, inside a {type(value).__name__}",
                    "return tuples, lists, dicts, dataclasses or plain objects",
                )

    def value(self, tree: Any) -> Any:
        """Return a tree of boxes as plain values that nothing else refers to."""
        leaves, structure = flatten(tree, leaf=is_boxed_leaf)
        if self.nested or not leaves:
            self.refuse_boxes(structure)
            return tree
        return hand_out(self.structured(tree), self.trace.values)

    def backward(self, seeds: list[tuple[Traced, Any]]) -> list[dict[int, Traced]]:
        """Record the reverse pass and return each argument's cotangents by leaf."""
        wrt = [v for a in self.arguments for v in a.wanted.values()]
        found = dict(zip(wrt, backprop(self.trace, seeds, wrt, self.start), strict=True))
        return [
            {k: self.gradient(v, found[v]) for k, v in a.wanted.items()} for a in self.arguments
        ]

    def gradient(self, var: Var, dx: Traced | None) -> Traced:
        """Return a leaf's cotangent, zeros where no path leads to the output."""
        if dx is not None:
            return self.as_leaf(dx, self.tape[var].spec)
        box = Traced(self.trace, var, self.trace.values[var])
        note = Origin(self.tape[var].origin.frames, None, var, "rule", "no path to the output")
        with self.trace.marked(note):
            zeros: Traced = self.trace.record(np.zeros_like, (box,), {})
        self.tape.cotangents[var] = zeros._var
        return zeros

    def as_leaf(self, dx: Traced, spec: Spec) -> Traced:
        """Return a cotangent in its leaf's byte order, which scalars have none of, and complex."""
        swapped = spec.kind == "array" and not spec.shape and not spec.dtype.isnative
        narrow = spec.dtype.kind == "c" and not np.iscomplexobj(dx._value)
        if not swapped and not narrow:
            return dx
        with self.trace.marked(self.tape[dx._var].origin):
            whole = self.trace.record(np.broadcast_to, (dx, ()), {}) if swapped else dx
            return self.trace.record(cast, (whole, spec.dtype), {})  # type: ignore[no-any-return]

    def hand(self, k: int, found: dict[int, Traced]) -> Any:
        """Return the gradient of argument k: boxes inside a trace, else `Structured` vars."""
        argument = self.arguments[k]
        places = {index: at for at, index in enumerate(argument.boxes)}
        structure = map_structure(
            argument.structure, lambda i: Leaf(places[i]), lambda v: Static(nothing_like(v))
        )
        if self.nested:
            boxes = [as_box(found.get(i), argument.kinds[i]) for i in argument.boxes]
            return unflatten(structure, boxes)
        leaves = tuple(found[i]._var if i in found else None for i in argument.boxes)
        kinds = tuple(argument.kinds[i] if i in found else "" for i in argument.boxes)
        return Structured(structure, leaves, kinds)

    def fork(self) -> Recording:
        """Return a recording that goes on from here on a tape of its own."""
        new = object.__new__(Recording)
        new.nested, new.site, new.as_float = False, self.site, self.as_float
        new.start, new.arguments, new.inputs = self.start, self.arguments, list(self.inputs)
        new.call_args, new.call_kwargs = [], {}
        new.output, new.aux = self.output, self.aux
        trace = new.trace = Trace(self.tape.entry, self.site)
        tape = trace.tape
        tape.ops, tape.inputs = dict(self.tape.ops), list(self.tape.inputs)
        tape.guards, tape.result = list(self.tape.guards), self.tape.result
        tape.next_id, trace.values = self.tape.next_id, dict(self.trace.values)
        return new


def as_box(box: Traced | None, kind: str) -> Any:
    """Return a gradient inside a trace: of a Python number a Python number."""
    if box is not None and kind == "python" and isinstance(box._value, np.ndarray | np.generic):
        return box._trace.record(item, (box,), {})
    return box


def refuse_hidden(structure: Any) -> None:
    """Raise TraceError for an argument that holds floats where they cannot be told apart."""
    for value in statics(structure):
        if isinstance(value, set | frozenset | types.MappingProxyType | array.array):
            items = value.values() if isinstance(value, types.MappingProxyType) else value
            if any(is_boxed_leaf(v) for v in items):
                raise TraceError(
                    f"an argument holds floats in a {type(value).__name__}, which is not followed: "
                    "pass a list, tuple, dict, dataclass or plain object"
                )


def refuse_unfollowed(structure: Any, name: str) -> None:
    """Raise TraceError for numbers in data frames, arrays of objects and records.

    None is no gradient of them.
    """
    for value in (v for s in statics(structure) for v in parts(s)):
        if not isinstance(value, np.ndarray | np.void):
            if holds_array(value):
                raise TraceError(
                    f"argument {name} holds a {type(value).__name__} of numbers, which is not "
                    "followed: pass np.asarray(x), a dict of its columns as arrays, or only the "
                    "other arguments' numbers as argnums="
                )
            continue
        if value.dtype.names and any(value.dtype[n].kind in "fcV" for n in value.dtype.names):
            raise TraceError(
                f"argument {name} holds a structured array of {value.dtype}, which is not "
                "followed: pass a dict of its fields, as {n: x[n].copy() for n in x.dtype.names}"
            )
        if value.dtype.kind == "O" and any(map(holds_numbers, value.flat)):
            raise TraceError(
                f"argument {name} holds an array of objects of shape {value.shape}, which is not "
                "followed: pass x.astype(float), or a list of its elements"
            )


def holds_array(x: Any) -> bool:
    """Tell whether NumPy makes an array of floats of an object of another library."""
    if isinstance(x, type) or not hasattr(type(x), "__array__") or isinstance(x, np.generic):
        return False
    try:
        made = np.asarray(x)
    except Exception:  # in its own way; then the function cannot use it as an array either
        return False
    return made.dtype.kind in "fc" or (made.dtype.hasobject and any(map(holds_numbers, made.flat)))


def holds_numbers(x: Any) -> bool:
    """Tell whether an element of an array of objects would have a gradient by itself."""
    if isinstance(x, numbers.Number):
        return not isinstance(x, bool)
    return bool(flatten(x, leaf=is_leaf)[0])


def kind_of(leaf: Any) -> str:
    """Return which kind of value the gradient of a leaf is."""
    return "array" if isinstance(leaf, np.ndarray) else spec_of(_plain(leaf)).kind


def _plain(leaf: Any) -> Any:
    return leaf._value if isinstance(leaf, Traced) else leaf


def split_aux(output: Any) -> tuple[Any, Any]:
    """Return value and auxiliary output of a function called with `has_aux`."""
    if not isinstance(output, tuple) or len(output) != 2:
        raise TypeError(
            f"with has_aux=True the function returns (value, aux); it returned {output!r}"
        )
    return output[0], output[1]


def function_name(f: Callable[..., Any]) -> str:
    """Return a readable name of a callable."""
    return str(getattr(f, "__name__", None) or getattr(getattr(f, "func", None), "__name__", None)
               or type(f).__name__)  # fmt: skip


def parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the first `count` positional parameters, `arg0` where there is none."""
    try:
        params = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return [f"arg{k}" for k in range(count)]
    names = [p.name for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in params if p.kind is p.VAR_POSITIONAL), None)
    extra = [f"{rest}_{k}" if rest else f"arg{k}" for k in range(len(names), count)]
    return (names + extra)[:count]


def seed_box(recording: Recording, y: Traced, seed: Any) -> Any:
    """Return the cotangent that the reverse pass of `y` starts from."""
    trace, value = recording.trace, y._value
    with trace.marked(SEED):
        if seed is None or (isinstance(seed, str) and seed == "ones"):
            return trace.constant(ones_of(value), SEED)
        if isinstance(seed, str):
            raise ValueError(f'seed={seed!r}: a seed is "ones" or an array of the output\'s shape')
        if isinstance(seed, Traced):
            return seed
        seed = check_seed(seed, value)
        if recording.nested:
            return trace.constant(seed, SEED)
        recording.inputs.append(seed)
        box = trace.push(
            Input(spec=spec_of(seed), name="seed", origin=replace(SEED, note="")), seed
        )
        recording.tape.seed = box._var
        return box


def ones_of(value: Any) -> Any:
    """Return one, or ones, of the type of `value`."""
    if isinstance(value, np.ndarray):
        return np.ones_like(value)
    return as_kind(value.dtype.type(1), "") if isinstance(value, np.generic) else type(value)(1)


def check_seed(seed: Any, value: Any) -> Any:
    """Return a seed in the output's dtype; raise ValueError for another shape."""
    if np.shape(seed) != np.shape(value):
        raise ValueError(f"seed has shape {np.shape(seed)}, the output has shape {np.shape(value)}")
    if isinstance(value, np.ndarray):
        return np.array(seed, dtype=value.dtype)
    kind = value.dtype.type if isinstance(value, np.generic) else type(value)
    return kind(seed)
