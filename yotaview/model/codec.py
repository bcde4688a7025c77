"""Values, operands and tapes as JSON beside a list of arrays, and back; no code is run."""

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
from yotaview.capture.functions import name_of, resolve

Json = Any
SCALARS = ("bool", "int", "float", "complex")
CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict}
ROLES = ("", "rule", "accumulate", "unbroadcast", "seed")


class CodecError(ValueError):
    """The text is not of this format."""


class Opaque:
    """A value of the saved program that is only shown, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class OpaqueFunction:
    """A function that this installation does not know: it has a name and cannot be called."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__module__ = "saved"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise CodecError."""
        raise CodecError(f"{self.__name__} is not in the table of functions: it is not run")


class Writer:
    """Turn values into JSON; arrays go to `arrays`, each once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.frames: dict[Frame, int] = {}
        self._numbers: dict[int, int] = {}

    def array(self, x: np.ndarray[Any, Any]) -> int:
        """Return the number of an array in the list."""
        if id(x) not in self._numbers:
            self._numbers[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._numbers[id(x)]

    def value(self, v: Any) -> Json:
        """Return a value or operand."""
        if v is None or type(v) in (bool, str):
            return v
        if type(v) is int:
            return {"int": str(v)}
        if type(v) is float:
            return {"float": _hex(v)}
        if type(v) is complex:
            return {"complex": [_hex(v.real), _hex(v.imag)]}
        return self._container(v)

    def _container(self, v: Any) -> Json:
        if isinstance(v, Var):
            return {"%": v.id}
        if type(v) in (tuple, list):
            return {type(v).__name__: [self.value(x) for x in v]}
        if type(v) is dict:
            return {"dict": [[self.value(k), self.value(x)] for k, x in v.items()]}
        if type(v) is slice:
            return {"slice": [self.value(x) for x in (v.start, v.stop, v.step)]}
        return self._leaf(v)

    def _leaf(self, v: Any) -> Json:
        if isinstance(v, np.ndarray) and not v.dtype.hasobject and type(v) is np.ndarray:
            return {"npy": self.array(v)}
        if isinstance(v, np.generic) and not v.dtype.hasobject:
            return {"scalar": self.array(np.array(v))}
        if v is Ellipsis:
            return {"ellipsis": True}
        if isinstance(v, np.dtype) and not v.hasobject:
            return {"dtype": v.str}
        if isinstance(v, type):
            return self._type(v)
        name = name_of(v) if callable(v) else None
        return {"fn": name} if name is not None else {"opaque": repr(v)[:200]}

    def _type(self, v: type) -> Json:
        if v in (bool, int, float, complex):
            return {"type": v.__name__}
        return {"type": np.dtype(v).str} if issubclass(v, np.generic) else {"opaque": v.__name__}

    def spec(self, s: Spec) -> Json:
        """Return a spec."""
        dtype = None if s.dtype is None else s.dtype.str
        return [s.kind, dtype, list(s.shape), s.order, [self.spec(x) for x in s.items]]

    def frame(self, f: Frame | None) -> int | None:
        """Return the number of a frame in the list."""
        return None if f is None else self.frames.setdefault(f, len(self.frames))

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
                fn = {"fn": name} if name is not None else {"opaque": op.name}
                return {**head, **fn, "args": [self.value(a) for a in op.args], "kwargs": kwargs}
        raise CodecError(f"{var} is no op")

    def structured(self, tree: Any) -> Json:
        """Return a result or a gradient."""
        if isinstance(tree, Structured):
            leaves = [self.value(v) for v in tree.leaves]
            return {
                "tree": self.structure(tree.structure),
                "leaves": leaves,
                "kinds": list(tree.kinds),
            }
        return {"value": self.value(tree)}

    def structure(self, s: Any) -> Json:
        """Return a structure; classes of the user become dicts."""
        match s:
            case Leaf(index):
                return {"leaf": index}
            case Again(number):
                return {"again": number}
            case Node():
                plain = next((n for n, t in CONTAINERS.items() if s.type is t), None)
                kind = plain or ("tuple" if issubclass(s.type, tuple) else "dict")
                keys = [self.value(k) for k in s.keys]
                return {
                    "node": s.number,
                    "type": kind,
                    "keys": keys,
                    "of": [*map(self.structure, s.children)],
                }
            case Static(value):
                return {"static": self.value(value)}
        return {"static": None}

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


def _hex(x: float) -> str:
    return x.hex() if math.isfinite(x) else repr(x)


class Reader:
    """Turn JSON back into values; anything that is not of the format raises CodecError."""

    def __init__(self, array: Callable[[int], np.ndarray[Any, Any]], frames: list[Frame]) -> None:
        self.array, self.frames = array, frames
        self._functions: dict[str, Callable[..., Any]] = {}
        self._specs: dict[str, Spec] = {}
        self._stacks: dict[tuple[int, ...], tuple[Frame, ...]] = {}
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
            "%": lambda x: Var(_natural(x)),
            "tuple": lambda x: tuple(self.value(v) for v in _list(x)),
            "list": lambda x: [self.value(v) for v in _list(x)],
            "dict": lambda x: {self.value(k): self.value(v) for k, v in _list(x)},
            "slice": lambda x: slice(*(self.value(v) for v in x)),
            "npy": lambda x: self.array(_natural(x)),
            "scalar": lambda x: self.array(_natural(x))[()],
            "ellipsis": lambda x: Ellipsis,
            "dtype": dtype_of,
            "type": _type_of,
            "fn": lambda x: self.function(_text(x)),
            "opaque": lambda x: Opaque(_text(x)[:200]),
        }

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function of a name from the table, an opaque one for any other name."""
        if name not in self._functions:
            self._functions[name] = resolve(name) or OpaqueFunction(name)
        return self._functions[name]

    def opaque(self, name: str) -> Callable[..., Any]:
        """Return a function of this name that cannot be called."""
        return self._functions.setdefault(f"opaque {name}", OpaqueFunction(name))

    def spec(self, j: Json) -> Spec:
        """Return a spec; equal ones are one object."""
        key = repr(j)
        if key not in self._specs:
            self._specs[key] = self._new_spec(j)
        return self._specs[key]

    def _new_spec(self, j: Json) -> Spec:
        kind, dtype, shape, order, items = j
        if kind not in ("array", "scalar", "python", "tuple", "object") or order not in (
            "C",
            "F",
            "K",
        ):
            raise CodecError("not a spec")
        made = None if dtype is None else dtype_of(dtype)
        return Spec(kind, made, tuple(map(_natural, shape)), order, tuple(map(self.spec, items)))

    def _stack(self, numbers: Json) -> tuple[Frame, ...]:
        key = tuple(map(_natural, numbers))
        if key not in self._stacks:
            self._stacks[key] = tuple(self.frames[k] for k in key)
        return self._stacks[key]

    def frame(self, number: int | None) -> Frame | None:
        """Return a frame by its number."""
        return None if number is None else self.frames[_natural(number)]

    def origin(self, j: Json) -> Origin:
        """Return an origin."""
        frames, of, wrt, role, note = j
        if role not in ROLES:
            raise CodecError("not a role")
        return Origin(self._stack(frames), optional_var(of), optional_var(wrt), role, _text(note))

    def op(self, j: Json) -> tuple[Var, Op]:
        """Return an op and its number."""
        var, spec, origin = Var(_natural(j["id"])), self.spec(j["spec"]), self.origin(j["origin"])
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
            return Leaf(_natural(j["leaf"]))
        if "again" in j:
            return Again(_natural(j["again"]))
        if "node" in j:
            keys = tuple(self.value(k) for k in _list(j["keys"]))
            children = tuple(map(self.structure, _list(j["of"])))
            return Node(_natural(j["node"]), CONTAINERS[j["type"]], keys, children)
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
        tape.cotangents = {Var(_natural(a)): Var(_natural(b)) for a, b in _list(j["cotangents"])}
        for var, expected, how, origin in _list(j["guards"]):
            tape.guards.append(
                Guard(Var(_natural(var)), self.value(expected), _text(how), self.origin(origin))
            )
        tape.next_id = max(last + 1, _natural(j["next_id"]))
        tape.verify()
        return tape


def float_of(text: Any) -> float:
    """Return a float from its exact text."""
    if not isinstance(text, str):
        raise CodecError("not a float")
    return float.fromhex(text) if "x" in text else float(text)


def dtype_of(text: Any) -> np.dtype[Any]:
    """Return a numeric dtype from its text."""
    found = np.dtype(_text(text))
    if found.hasobject or found.kind not in "biufcSUMm":
        raise CodecError(f"not a numeric dtype: {text}")
    return found


def _type_of(text: Any) -> type:
    builtin = {"bool": bool, "int": int, "float": float, "complex": complex}.get(_text(text))
    return builtin or dtype_of(text).type


def optional_var(number: Any) -> Var | None:
    """Return a var from its number or None."""
    return None if number is None else Var(_natural(number))


def _integer(text: Any) -> int:
    if not isinstance(text, str) or len(text) > 400:
        raise CodecError("not an integer")
    return int(text)


def _natural(x: Any) -> int:
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
