"""Values, operands and tapes as JSON beside a list of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.structs import Again, Leaf, Node, Static
from yota.tape import (
    Call,
    Constant,
    Entry,
    Frame,
    Input,
    Op,
    Origin,
    Spec,
    Structured,
    Tape,
    Var,
    fn_name,
)
from yotaview.capture.functions import name_of
from yotaview.model.forms import (
    CONTAINERS,
    LITERAL_KINDS,
    MAX_BITS,
    MAX_HEX_BITS,
    MAX_LAID_OUT,
    Array,
    CodecError,
    Json,
    dtype_text,
    is_laid_out,
    text_of,
)


class Writer:
    """Turn values into JSON; arrays go to `arrays`, each once."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.frames: dict[Frame, int] = {}
        self._seen: dict[int, int] = {}
        self._numbers: dict[Any, int] = {}
        self._strided: set[Any] = set()
        self._laid = 0
        self._makers = {
            int: self._int,
            float: lambda v: {"float": _hex(v)},
            complex: lambda v: {"complex": [_hex(v.real), _hex(v.imag)]},
            bytes: lambda v: {"bytes": v.hex()},
            Var: lambda v: {"%": v.id},
            tuple: lambda v: {"tuple": [self.value(x) for x in v]},
            list: lambda v: {"list": [self.value(x) for x in v]},
            dict: lambda v: {"dict": [[self.value(k), self.value(x)] for k, x in v.items()]},
            slice: lambda v: {"slice": [self.value(x) for x in (v.start, v.stop, v.step)]},
            range: self._range,
            type(...): lambda v: {"ellipsis": True},
            np.ndarray: self._array,
        }

    def value(self, v: Any) -> Json:
        """Return a value or operand; one that has no form is its text."""
        if v is None or type(v) in (bool, str):
            return v
        make = self._makers.get(type(v), self._other)
        made = make(v)
        return made if made is not None else {"opaque": text_of(v)}

    def _int(self, v: int) -> Json:
        if v.bit_length() > MAX_HEX_BITS:
            return None
        return {"int": str(v) if v.bit_length() <= MAX_BITS else hex(v)}

    def _range(self, v: range) -> Json:
        ends = [self._int(x) for x in (v.start, v.stop, v.step)]
        return None if None in ends else {"range": ends}

    def _array(self, x: Array) -> Json:
        if x.dtype.hasobject:
            return None
        number = self._number(("id", id(x)), x)
        key = (number, x.strides)
        if key not in self._strided and is_laid_out(x):
            self._laid += x.nbytes
            if self._laid <= MAX_LAID_OUT:
                self._strided.add(key)
        return {"strided": [number, list(x.strides)]} if key in self._strided else {"npy": number}

    def _number(self, key: Any, x: Array) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.arrays)
            self.arrays.append(x)
        return self._numbers[key]

    def _other(self, v: Any) -> Json:
        if isinstance(v, np.generic):
            return self._scalar(v)
        if isinstance(v, np.dtype):
            dtype = self.dtype(v)
            return None if dtype is None or v.hasobject else {"dtype": dtype}
        if isinstance(v, type):
            return _type(v)
        name = name_of(v) if callable(v) else None
        return None if name is None else {"fn": name}

    def _scalar(self, v: np.generic) -> Json:
        if v.dtype.hasobject or type(v) is not v.dtype.type:
            return None
        return {"scalar": self._number((v.dtype.str, v.tobytes()), np.array(v))}

    def dtype(self, dtype: np.dtype[Any]) -> Json:
        """Return a dtype as text, one with fields as that of an empty array; else None."""
        text = dtype_text(dtype)
        if text is not None or dtype.hasobject or dtype.kind != "V":
            return text
        return {"npy": self._number(("of", dtype), np.empty(0, dtype))}

    def spec(self, s: Spec) -> Json:
        """Return a spec."""
        dtype = None if s.dtype is None else self.dtype(s.dtype)
        if s.dtype is not None and dtype is None:
            return ["object", None, [], "C", []]
        return [s.kind, dtype, list(s.shape), s.order, [self.spec(x) for x in s.items]]

    def frame(self, f: Frame | None) -> int | None:
        """Return the number of a frame in the list."""
        if f is None:
            return None
        # what is saved lives on: an identity answers sooner than six compared fields
        if id(f) not in self._seen:
            self._seen[id(f)] = self.frames.setdefault(f, len(self.frames))
        return self._seen[id(f)]

    def origin(self, o: Origin) -> Json:
        """Return an origin."""
        of, wrt = (v.id if v is not None else None for v in (o.of, o.wrt))
        return [[self.frame(f) for f in o.frames], of, wrt, o.role, o.note]

    def op(self, var: Var, op: Op) -> Json:
        """Return an op."""
        head = {"id": var.id, "spec": self.spec(op.spec), "origin": self.origin(op.origin)}
        match op:
            case Input():
                return {**head, "inp": op.name}
            case Constant():
                return {**head, "const": self.value(op.value), "name": op.name}
            case Call():
                kwargs = [[k, self.value(v)] for k, v in op.kwargs]
                name = name_of(op.fn)
                fn = {"fn": name} if name is not None else {"opaque": fn_name(op.fn)}
                return {**head, **fn, "args": [self.value(a) for a in op.args], "kwargs": kwargs}
        raise CodecError(f"{var} is no op")

    def structured(self, tree: Any) -> Json:
        """Return a result or a gradient."""
        if not isinstance(tree, Structured):
            return {"value": self.value(tree)}
        return {
            "tree": self.structure(tree.structure),
            "leaves": [self.value(v) for v in tree.leaves],
            "kinds": list(tree.kinds),
        }

    def structure(self, s: Any) -> Json:
        """Return a structure; classes of the user become dicts."""
        match s:
            case Leaf(index):
                return {"leaf": index}
            case Again(number):
                return {"again": number}
            case Node():
                plain = next((n for n, t in CONTAINERS.items() if s.type is t), None)
                return {
                    "node": s.number,
                    "type": plain or ("tuple" if issubclass(s.type, tuple) else "dict"),
                    "keys": [self.value(k) for k in s.keys],
                    "of": [*map(self.structure, s.children)],
                }
            case Static(value):
                return {"static": self.value(value)}
        raise CodecError(f"{type(s).__name__} is no structure")

    def entry(self, entry: Entry) -> Json:
        """Return how arguments become inputs."""
        return {
            "name": entry.name,
            "args": [self.structure(s) for s in entry.args],
            "kwargs": [[k, self.structure(s)] for k, s in entry.kwargs],
            "names": list(entry.names),
            "as_float": entry.as_float,
        }

    def tape(self, tape: Tape) -> Json:
        """Return a tape without values."""
        grads = None if tape.gradients is None else [self.structured(g) for g in tape.gradients]
        return {
            "entry": self.entry(tape.entry),
            "ops": [self.op(v, op) for v, op in tape],
            "result": self.structured(tape.result),
            "gradients": grads,
            "seed": tape.seed.id if tape.seed is not None else None,
            "reverse_start": tape.reverse_start.id if tape.reverse_start is not None else None,
            "cotangents": [[a.id, b.id] for a, b in tape.cotangents.items()],
            "guards": [
                [g.var.id, self.value(g.expected), g.how, self.origin(g.origin)]
                for g in tape.guards
            ],
            "next_id": tape.next_id,
        }


def _type(v: type) -> Json:
    if v in (bool, int, float, complex):
        return {"type": v.__name__}
    try:
        dtype = np.dtype(v if issubclass(v, np.generic) else object)
    except TypeError:  # an abstract one, as np.floating
        return None
    is_its_own = dtype.type is v and dtype.kind in LITERAL_KINDS
    return {"type": dtype.str} if is_its_own else None


def _hex(x: float) -> str:
    return x.hex() if math.isfinite(x) else repr(x)
