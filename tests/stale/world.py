"""A small world of state: numbers, arrays, containers, objects, classes, a module, functions."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

SOURCE = """
import collections, contextlib, dataclasses, enum, functools, math, operator, types
import numpy as np

G0, G1, MODE, NAME, FLAG = 2.0, 3, "double", "rate", True
A0, A1, A2 = np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([[1.0, 2.0], [3.0, 4.0]])
VIEW, BIG, INDEX = A0[1:], np.arange(20000.0) / 20000.0, np.array([0, 2])
L0, D0, COUNT, LOG, CFG = [1.5, 2.5], {"a": 1.0, "b": 2.0}, {"n": 0}, [], [1, 2]
NEST = {"layers": [{"w": np.ones(3)}, {"w": np.full(3, 2.0)}], "on": True}
PAIR = [[1.0], [1.0]]
SETS, QUEUE, RECORD = {1, 2, 9}, collections.deque([1.0, 2.0]), np.zeros(2, "f8,i4")
DEFAULT = collections.defaultdict(float, a=2.0)
SPACE = types.SimpleNamespace(rate=1.75, n=0)
settings = types.ModuleType("settings")
settings.rate, settings.n, settings.table = 1.25, 0, {"k": 0.5}

class Color(enum.Enum):
    RED = 1.5
    BLUE = 2.5

class Plain:
    rate, total = 0.75, 0
    def m0(self, a): return a * self.rate
    def m1(self, a): return a * self.extra if hasattr(self, "extra") else a * 0.3

class Base:
    rate, total, scale = 1.5, 0, [1.0]
    def __init__(self, size):
        self.size, self.n, self.name = size, 0, "base"
    def __call__(self, a): return a * self.size * self.rate
    @property
    def twice(self): return self.size * 2.0
    @property
    def logged(self): return self.n
    @logged.setter
    def logged(self, value): LOG.append(value)
    @staticmethod
    def smethod(a): return a * G0
    @classmethod
    def cmethod(cls, a): return a * cls.rate
    def m0(self, a): return M0_BODY
    def bump(self):
        self.n += 1
        return self.n

class Derived(Base):
    def __call__(self, a): return super().__call__(a) + 1.0
    def __getattr__(self, name):
        if name.startswith("_") or name in ("size", "n", "name", "extra"):
            raise AttributeError(name)
        return D0["a"]
    def __len__(self): return len(L0)
    def __eq__(self, other): return self.size == getattr(other, "size", None)
    __hash__ = None

class Other(Base):
    rate = 4.5

class Slotted:
    __slots__ = ("v", "w")
    def __init__(self, v): self.v, self.w = v, [v]

@dataclasses.dataclass
class Config:
    factor: float = 1.1
    parts: list = dataclasses.field(default_factory=lambda: [0.5])

Point = collections.namedtuple("Point", "u v")
base, derived, other, slotted, config = Base(2.0), Derived(3.0), Base(1.0), Slotted(2.5), Config()
plain, point = Plain(), Point(1.0, [2.0])

def h0(a, k=0.5, *, j=1.0): return a * (k + j * (H0_BODY))
def h1(a):
    if FLAG:
        return h0(a) + H1_BODY
    return a * 0.25
def counted(a):
    COUNT["n"] += 1
    return a * COUNT["n"]
def tagged(a): return a * tagged.k
tagged.k = 1.5
FS = [h0, lambda a: a * G1]
bound, part = base.m0, functools.partial(h0, k=0.125)

@contextlib.contextmanager
def scaled():
    yield G0

def make():
    cell, cells = 2.0, [1.0, 2.0]
F_SOURCE
    def set_cell(value):
        nonlocal cell
        cell = value
    def get_cell(): return cell
    return f, set_cell, get_cell, cells
f, set_cell, get_cell, CELLS = make()
"""

# what belongs to the state; the rest are functions and modules that mutations replace
STATE = [
    "G0",
    "G1",
    "MODE",
    "NAME",
    "FLAG",
    "A0",
    "A1",
    "A2",
    "VIEW",
    "BIG",
    "INDEX",
    "L0",
    "D0",
    "COUNT",
    "LOG",
    "CFG",
    "NEST",
    "PAIR",
    "SETS",
    "QUEUE",
    "RECORD",
    "DEFAULT",
    "SPACE",
    "base",
    "derived",
    "other",
    "slotted",
    "config",
    "plain",
    "point",
    "CELLS",
]
CLASSES = ("Base", "Derived", "Other", "Plain", "Config", "Slotted")


class World:
    """One copy of the state, with the function that reads it."""

    def __init__(self, source: str) -> None:
        module = sys.modules["stale_world"] = types.ModuleType("stale_world")
        self.space: dict[str, Any] = vars(module)
        exec(compile(source, "<world>", "exec"), self.space)
        self.seen: dict[str, Any] = {}

    def do(self, line: str) -> None:
        """Run a line in this world."""
        exec(line, self.space)

    def value(self, expression: str) -> Any:
        """Return what an expression stands for in this world."""
        return eval(expression, self.space)

    def call(self, arguments: str) -> Any:
        """Call the function plainly."""
        return self.space["f"](*self.value(arguments))

    def digest(self) -> list[str]:
        """Return what the state holds, which of it is one object, and what was replaced."""
        known: dict[int, int] = {}
        lines, seen = [], {}
        for path, value in self.parts():
            text = describe(value)
            if text == "":
                number = known.setdefault(id(value), len(known))
                seen[path] = value
                is_new = path in self.seen and self.seen[path] is not value
                text = f"{type(value).__name__} #{number}{' replaced' if is_new else ''}"
                text += " " + repr(value.tolist()) if isinstance(value, np.ndarray) else ""
            lines.append(f"{path} = {text}")
        self.seen = seen
        return lines

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Yield every part of the state with its path."""
        stack = [(n, self.space[n]) for n in reversed(STATE) if n in self.space]
        stack.append(("settings", dict(vars(self.space["settings"]))))
        stack.append(("cell", self.space["get_cell"]()))
        stack += [(n, _own(self.space[n])) for n in CLASSES]
        visited: dict[int, Any] = {}
        while stack:
            path, value = stack.pop()
            yield path, value
            if id(value) not in visited and describe(value) == "":
                visited[id(value)] = value
                stack.extend((f"{path}.{k}", v) for k, v in _items(value))


def _own(cls: Any) -> dict[str, Any]:
    return {
        k: v
        for k, v in vars(cls).items()
        if not k.startswith("__") and not callable(v) and not hasattr(v, "__get__")
    }


def _items(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [(k, v) for k, v in value.items() if not str(k).startswith("__")]
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    names = getattr(type(value), "__slots__", ())
    slots = [(n, getattr(value, n)) for n in names if hasattr(value, n)]
    return [*slots, *getattr(value, "__dict__", {}).items()]


def describe(value: Any) -> str:
    """Return an immutable value as text, '' for what is told by identity and parts."""
    if isinstance(value, types.FunctionType | types.MethodType | type | types.ModuleType):
        return f"a {type(value).__name__}"
    if isinstance(value, set | frozenset) or type(value).__name__ == "deque":
        return repr(value)
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
        return f"{type(value).__name__} {value!r}"
    return ""
