"""Write an op as the Python expression that a person would write for it."""

from __future__ import annotations

import builtins
import math
import operator
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from yota.codegen.names import Names
from yota.rules import functional
from yota.rules.registry import PRIMITIVES
from yota.tape import Call, Tape, Var, fn_name
from yota.text import int_text

_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.matmul: "@",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.lshift: "<<",
    operator.rshift: ">>", operator.lt: "<", operator.le: "<=", operator.gt: ">",
    operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
_PREFIX = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}


class Expressions:
    """The text of calls and operands; `local` names the vars."""

    def __init__(self, tape: Tape, names: Names, local: Mapping[Var, str]) -> None:
        self.tape, self.names, self.local = tape, names, local
        self.np = names.unique("np")
        self.imports = {self.np: "numpy"}
        self.functions: dict[int, str] = {}
        self.special: dict[Any, Callable[[Call], str]] = {
            functional.identity: lambda op: self.operand(op.args[0]),
            functional.halt: lambda op: self.operand(op.args[0]),
            functional.getitem: self.subscript,
            operator.getitem: self.subscript,
            functional.item: self.item,
            functional.cast: self.cast,
        }

    def call(self, op: Call, out: str = "") -> str:
        """Return a call as an expression, computed into the buffer `out` if one is given."""
        if len(op.args) == 2 and not op.kwargs and (sign := _lookup(_INFIX, op.fn)):
            return f"{self.atom(op.args[0])} {sign} {self.atom(op.args[1])}"
        if len(op.args) == 1 and not op.kwargs and (sign := _lookup(_PREFIX, op.fn)):
            return f"{sign}{self.atom(op.args[0])}"
        if (write := _lookup(self.special, op.fn)) is not None and not op.kwargs:
            return str(write(op))
        parts = [self.operand(a, self.is_numpy(op.fn)) for a in op.args]
        parts += [f"{k}={self.operand(v, self.is_numpy(op.fn))}" for k, v in op.kwargs]
        return f"{self.function(op.fn)}({', '.join([*parts, *([f'out={out}'] if out else [])])})"

    def subscript(self, op: Call) -> str:
        """Return `x[index]`."""
        x, index = op.args
        return f"{self.atom(x)}[{self.index(index)}]"

    def index(self, tree: Any) -> str:
        """Return an index as it stands between brackets."""
        if type(tree) is tuple and tree:
            items = ", ".join(map(self.index_item, tree))
            return items + "," if len(tree) == 1 else items
        return self.index_item(tree)

    def index_item(self, tree: Any) -> str:
        """Return one item of an index; a slice as `a:b`."""
        if type(tree) is not slice:
            return self.operand(tree)
        ends = ["" if t is None else self.operand(t) for t in (tree.start, tree.stop)]
        return ":".join(ends) + ("" if tree.step is None else f":{self.operand(tree.step)}")

    def item(self, op: Call) -> str:
        """Return `x.item()`, of a Python number itself."""
        x = op.args[0]
        plain = not isinstance(x, Var) or self.tape[x].spec.kind == "python"
        return self.operand(x) if plain else f"{self.atom(x)}.item()"

    def cast(self, op: Call) -> str:
        """Return `x.astype(dtype)`, the dtype's constructor for Python numbers."""
        x, dtype = op.args[0], np.dtype(op.args[1])
        spec = self.tape[x].spec if isinstance(x, Var) else None
        text = self.atom(x)
        if spec is None or spec.kind not in ("array", "scalar"):
            real = f"{text}.real" if self.is_complex(x) and dtype.kind != "c" else text
            return f"{self.operand(dtype.type, True)}({real})"
        if spec.dtype.kind == "c" and dtype.kind != "c":
            text = f"{self.np}.real({text})"
        return f"{text}.astype({self.operand(dtype, True)})"

    def is_complex(self, x: Any) -> bool:
        """Tell whether an operand is complex."""
        kind = self.tape[x].spec.dtype.kind if isinstance(x, Var) else np.asarray(x).dtype.kind
        return bool(kind == "c")

    def atom(self, tree: Any) -> str:
        """Return an operand that may stand beside an operator."""
        text = self.operand(tree)
        simple = text.isidentifier() or text.replace(".", "", 1).isdigit()
        return text if simple or text.startswith(("(", "[")) else f"({text})"

    def operand(self, tree: Any, numpy: bool = True) -> str:
        """Return an operand as text; `numpy` allows a type in place of a dtype."""
        kind = type(tree)
        if kind is Var:
            return self.local[tree]
        if kind is tuple:
            items = ", ".join(self.operand(t, numpy) for t in tree)
            return f"({items},)" if len(tree) == 1 else f"({items})"
        if kind is list:
            return f"[{', '.join(self.operand(t, numpy) for t in tree)}]"
        if kind is dict:
            pairs = (f"{self.literal(k)}: {self.operand(v, numpy)}" for k, v in tree.items())
            return "{" + ", ".join(pairs) + "}"
        if kind is slice:
            ends = (self.operand(t, numpy) for t in (tree.start, tree.stop, tree.step))
            return f"{self.names.builtin(slice)}({', '.join(ends)})"
        if isinstance(tree, np.dtype) and numpy:
            return self.dtype(tree)
        return self.literal(tree)

    def literal(self, value: Any) -> str:
        """Return the text of a literal, a bound name where text would lose a bit."""
        kind = type(value)
        if value is Ellipsis:
            return "..."
        if kind is int:
            return int_text(value)
        if value is None or kind in (bool, str, bytes):
            return repr(value)
        if kind is float:
            return self.float(value)
        if kind is complex and math.isfinite(value.real) and math.isfinite(value.imag):
            return f"{self.names.builtin(complex)}({value.real!r}, {value.imag!r})"
        if isinstance(value, np.generic) and is_readable(value):
            return f"{self.function(kind)}({value.item()!r})"
        if value is np._NoValue:
            return f"{self.np}._NoValue"
        if isinstance(value, type) or callable(value):
            return self.function(value)
        return self.names.bind(value, "k")

    def float(self, value: float) -> str:
        """Return a float as text that reads back to the same bits."""
        if math.isfinite(value):
            return repr(value)
        if math.isinf(value):
            return f"{self.np}.inf" if value > 0 else f"-{self.np}.inf"
        if struct.pack("d", value) == struct.pack("d", np.nan):
            return f"{self.np}.nan"
        return self.names.bind(value, "nan")

    def dtype(self, dtype: Any) -> str:
        """Return a dtype as `np.float64` where such a name exists."""
        made = vars(np).get(dtype.name)
        if isinstance(made, type) and issubclass(made, np.generic) and np.dtype(made) == dtype:
            return f"{self.np}.{dtype.name}"
        return self.names.bind(dtype, "k")

    def is_numpy(self, fn: Any) -> bool:
        """Tell whether a function takes whatever NumPy takes as a dtype."""
        return self.function(fn).startswith(f"{self.np}.")

    def function(self, fn: Any) -> str:
        """Return the expression that names a function or type, bound where no module exports it."""
        known = self.functions.get(id(fn))
        if known is None:
            known = self.functions[id(fn)] = self.exported(fn)
        return known

    def exported(self, fn: Any) -> str:
        """Return the public name of a function or type, a bound one where it has none."""
        name = fn_name(fn)
        owner = getattr(fn, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"{self.function(owner)}.{name}"
        public = getattr(fn, "__yota_public__", None)
        if public is not None:
            return f"{self.module(public[0])}.{public[1]}"
        for path, module in (("", np), (".linalg", np.linalg), (".fft", np.fft)):
            if vars(module).get(name) is fn and getattr(builtins, name, None) is not fn:
                return f"{self.np}{path}.{name}"
        if getattr(builtins, name, None) is fn:
            return self.names.builtin(fn)
        for path in ("math", "operator", "scipy.special", "scipy.special._ufuncs"):
            if path in sys.modules and getattr(sys.modules[path], name, None) is fn:
                return f"{self.module(path)}.{name}"
        plain = fn.__wrapped__ if _is_primitive(fn) else fn
        return self.names.bind(plain, name)

    def module(self, path: str) -> str:
        """Return the name under which generated code imports a module."""
        for name, known in self.imports.items():
            if known == path:
                return name
        name = self.names.unique(path.rpartition(".")[2])
        self.imports[name] = path
        return name


def is_readable(value: Any) -> bool:
    """Tell whether a NumPy value, written as Python numbers, reads back to the same bits."""
    if value.dtype.kind == "f":
        return bool(value.dtype.itemsize <= 8 and np.isfinite(value).all())
    return bool(value.dtype.kind in "biu" and value.size)


def _lookup(table: Mapping[Any, Any], fn: Any) -> Any:
    try:
        return table.get(fn)
    except TypeError:
        return None


def _is_primitive(fn: Any) -> bool:
    try:
        return fn in PRIMITIVES
    except TypeError:
        return False
