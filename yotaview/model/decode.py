"""JSON and a list of arrays as values, operands and tapes; no code is run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.structs import Again, Leaf, Node, Static
from yota.tape import (
    Call,
    Constant,
    Entry,
    Frame,
    Guard,
    Input,
    Op,
    Origin,
    Spec,
    Structured,
    Tape,
    Var,
)
from yotaview.capture.functions import resolve
from yotaview.model.forms import (
    CONTAINERS,
    LITERAL_KINDS,
    MAX_DIGITS,
    MAX_HEX_BITS,
    MAX_LAID_OUT,
    MAX_OPAQUE,
    ROLES,
    Array,
    CodecError,
    Json,
    Opaque,
    laid_out,
)

MAX_SIZE = 1 << 60
KINDS = ("array", "scalar", "python", "tuple", "object")


class Reader:
    """Turn JSON back into values; anything that is not of the format raises CodecError."""

    def __init__(self, array: Callable[[int], Array], frames: list[Frame]) -> None:
        self.array, self.frames = array, frames
        self._functions: dict[str, Callable[..., Any]] = {}
        self._specs: dict[str, Spec] = {}
        self._stacks: dict[tuple[int, ...], tuple[Frame, ...]] = {}
        self._strided: dict[Any, Array] = {}
        self._laid = 0
        self._makers = self._table()

    def value(self, j: Json) -> Any:
        """Return a value or operand."""
        if j is None or isinstance(j, bool | str):
            return j
        if not isinstance(j, dict) or len(j) != 1:
            raise CodecError(f"not a value: {str(j)[:60]}")
        ((kind, x),) = j.items()
        make = self._makers.get(kind)
        if make is None:
            raise CodecError(f"not a kind of value: {str(kind)[:60]}")
        return make(x)

    def _table(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "int": _integer,
            "float": float_of,
            "complex": lambda x: complex(float_of(x[0]), float_of(x[1])),
            "bytes": lambda x: bytes.fromhex(_text(x)),
            "%": lambda x: Var(natural(x)),
            "tuple": lambda x: tuple(self.value(v) for v in _list(x)),
            "list": lambda x: [self.value(v) for v in _list(x)],
            "dict": lambda x: {self.value(k): self.value(v) for k, v in _list(x)},
            "slice": lambda x: slice(*(self.value(v) for v in _list(x))),
            "range": lambda x: range(*(self.value(v) for v in _list(x))),
            "npy": lambda x: self.array(natural(x)),
            "strided": lambda x: self._laid_out(natural(x[0]), tuple(_list(x[1]))),
            "scalar": self._scalar,
            "ellipsis": lambda x: Ellipsis,
            "dtype": self.dtype,
            "type": self._type,
            "fn": lambda x: self.function(_text(x)),
            "opaque": lambda x: self.opaque(_text(x)),
        }

    def _laid_out(self, number: int, strides: tuple[int, ...]) -> Array:
        if (number, strides) not in self._strided:
            made = laid_out(self.array(number), strides)
            self._laid += made.nbytes
            if self._laid > MAX_LAID_OUT:
                raise CodecError("more copies of arrays than there may be")
            self._strided[number, strides] = made
        return self._strided[number, strides]

    def _scalar(self, x: Json) -> Any:
        found = self.array(natural(x))
        if found.shape:
            raise CodecError(f"array {x} is not a scalar")
        return found[()]

    def dtype(self, j: Json) -> np.dtype[Any]:
        """Return a dtype from its text, one with fields from an array; it never holds objects."""
        found: np.dtype[Any]
        found = self.array(natural(j["npy"])).dtype if type(j) is dict else np.dtype(_text(j))
        if found.hasobject or found.kind not in LITERAL_KINDS:
            raise CodecError(f"not a numeric dtype: {j}")
        return found

    def _type(self, text: Json) -> type:
        builtin = {"bool": bool, "int": int, "float": float, "complex": complex}.get(_text(text))
        return builtin or self.dtype(text).type

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function of a name from the table, an opaque one for any other name."""
        if name not in self._functions:
            self._functions[name] = resolve(name) or Opaque(name)
        return self._functions[name]

    def opaque(self, text: str) -> Opaque:
        """Return what is only shown."""
        return Opaque(text[:MAX_OPAQUE])

    def spec(self, j: Json) -> Spec:
        """Return a spec; equal ones are one object."""
        key = repr(j)
        if key not in self._specs:
            self._specs[key] = self._new_spec(j)
        return self._specs[key]

    def _new_spec(self, j: Json) -> Spec:
        kind, dtype, shape, order, items = j
        if kind not in KINDS or order not in ("C", "F", "K"):
            raise CodecError("not a spec")
        shape = tuple(map(natural, _list(shape)))
        if dtype == "|O" and (kind == "array" or (kind in ("scalar", "python") and not shape)):
            # what it says is shown, nothing is made of it
            return Spec(kind, np.dtype(object), shape, order)
        made = None if dtype is None else self.dtype(dtype)
        if (made is None) is (kind in ("array", "scalar", "python")) or (shape and kind != "array"):
            raise CodecError("not a spec: a kind without its dtype or shape")
        if made is not None and math.prod(shape) * made.itemsize > MAX_SIZE:
            raise CodecError("not a spec: no array is so large")
        return Spec(kind, made, shape, order, tuple(map(self.spec, _list(items))))

    def _stack(self, numbers: Json) -> tuple[Frame, ...]:
        key = tuple(map(natural, numbers))
        if key not in self._stacks:
            self._stacks[key] = tuple(self.frames[k] for k in key)
        return self._stacks[key]

    def frame(self, number: int | None) -> Frame | None:
        """Return a frame by its number."""
        return None if number is None else self.frames[natural(number)]

    def origin(self, j: Json) -> Origin:
        """Return an origin."""
        frames, of, wrt, role, note = j
        if role not in ROLES:
            raise CodecError("not a role")
        return Origin(self._stack(frames), optional_var(of), optional_var(wrt), role, _text(note))

    def op(self, j: Json) -> tuple[Var, Op]:
        """Return an op and its number."""
        var, spec, origin = Var(natural(j["id"])), self.spec(j["spec"]), self.origin(j["origin"])
        if "inp" in j:
            return var, Input(spec=spec, origin=origin, name=_text(j["inp"]))
        if "const" in j:
            value = self.value(j["const"])
            return var, Constant(spec=spec, origin=origin, value=value, name=_text(j["name"]))
        fn = self.function(_text(j["fn"])) if "fn" in j else self.opaque(_text(j["opaque"]))
        args = tuple(self.value(a) for a in _list(j["args"]))
        kwargs = tuple((_text(k), self.value(v)) for k, v in _list(j["kwargs"]))
        return var, Call(spec=spec, origin=origin, fn=fn, args=args, kwargs=kwargs)

    def structured(self, j: Json) -> Any:
        """Return a result or a gradient."""
        if "value" in j:
            return self.value(j["value"])
        leaves = tuple(self.value(v) for v in _list(j["leaves"]))
        kinds = tuple(_text(k) for k in _list(j["kinds"]))
        return Structured(self.structure(j["tree"]), leaves, kinds)

    def structure(self, j: Json) -> Any:
        """Return a structure."""
        if "leaf" in j:
            return Leaf(natural(j["leaf"]))
        if "again" in j:
            return Again(natural(j["again"]))
        if "node" in j:
            keys = tuple(self.value(k) for k in _list(j["keys"]))
            children = tuple(map(self.structure, _list(j["of"])))
            return Node(natural(j["node"]), CONTAINERS[j["type"]], keys, children)
        return Static(self.value(j["static"]))

    def entry(self, j: Json) -> Entry:
        """Return how arguments become inputs."""
        return Entry(
            _text(j["name"]),
            tuple(map(self.structure, _list(j["args"]))),
            tuple((_text(k), self.structure(s)) for k, s in _list(j["kwargs"])),
            tuple(map(_text, _list(j["names"]))),
            bool(j["as_float"]),
        )

    def tape(self, j: Json) -> Tape:
        """Return a tape; raises TapeError where it is not in order."""
        tape = Tape(self.entry(j["entry"]))
        last = 0
        for item in _list(j["ops"]):
            var, op = self.op(item)
            if var.id <= last:
                raise CodecError("ops are not in order")
            last = var.id
            tape.push(op, var)
        tape.result = self.structured(j["result"])
        grads = j["gradients"]
        tape.gradients = None if grads is None else tuple(map(self.structured, _list(grads)))
        tape.seed, tape.reverse_start = optional_var(j["seed"]), optional_var(j["reverse_start"])
        tape.cotangents = {Var(natural(a)): Var(natural(b)) for a, b in _list(j["cotangents"])}
        if not {tape.seed, *tape.cotangents, *tape.cotangents.values()} <= {None, *tape.ops}:
            raise CodecError("the seed or a cotangent is not on the tape")
        for var, expected, how, origin in _list(j["guards"]):
            tape.guards.append(
                Guard(Var(natural(var)), self.value(expected), _text(how), self.origin(origin))
            )
        tape.next_id = max(last + 1, natural(j["next_id"]))
        tape.verify()
        return tape


def float_of(text: Any) -> float:
    """Return a float from its exact text."""
    if not isinstance(text, str):
        raise CodecError("not a float")
    return float.fromhex(text) if "x" in text else float(text)


def optional_var(number: Any) -> Var | None:
    """Return a var from its number or None."""
    return None if number is None else Var(natural(number))


def _integer(text: Any) -> int:
    base = 16 if isinstance(text, str) and text.lstrip("-").startswith("0x") else 10
    longest = MAX_DIGITS if base == 10 else MAX_HEX_BITS // 4 + 3
    if not isinstance(text, str) or len(text) > longest:
        raise CodecError("not an integer")
    return int(text, base)


def natural(x: Any) -> int:
    """Return a number that counts something, as JSON has it."""
    if type(x) is not int or x < 0:
        raise CodecError(f"not a number: {str(x)[:40]}")
    return x


def _text(x: Any) -> str:
    if not isinstance(x, str):
        raise CodecError(f"not a text: {str(x)[:40]}")
    return x


def _list(x: Any) -> list[Any]:
    if not isinstance(x, list):
        raise CodecError(f"not a list: {str(x)[:40]}")
    return x
