"""Draw the parts of a random program: arrays, shapes, axes, masks, indices, numbers."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.program import DEFINED, Argument, Leaf, Program, array_text

MOST = 1e3
REAL = {"float64": 70, "float32": 20, ">f8": 4, "longdouble": 4, "float16": 2}
COMPLEX = {"complex128": 80, "complex64": 20}
LAYOUTS = {"C": 60, "F": 14, "strided": 12, "reversed": 8, "moved": 6}
CONTAINERS = {
    "Pair({0}, {1})": ("{}.a", "{}.b"),
    "Record({0}, [{1}, None])": ("{}.a", "{}.b[0]"),
    "{{'w': {0}, 'b': ({1}, 3)}}": ("{}['w']", "{}['b'][0]"),
    "[{0}, {1}]": ("{}[0]", "{}[1]"),
}
DOMAINS = {
    "positive": ("np.abs({}) + 0.3", "np.exp(0.3 * {})", "np.square({}) + 0.5"),
    "unit": ("0.9 * np.tanh({})", "0.95 * np.sin({})"),
    "above 1": ("np.abs({}) + 1.2", "np.square({}) + 1.1"),
    "small": ("np.tanh({})", "0.3 * {}"),
}
Test = Callable[[Any], bool]


class Unfit(Exception):
    """What there is does not suit the call."""


@dataclass(frozen=True)
class Block:
    """Statements, and the expressions that stand for what they made."""

    text: str
    results: tuple[str, ...]


def is_real(v: Any) -> bool:
    """Tell whether `v` is an array or a number of a real floating type."""
    return isinstance(v, float) or (isinstance(v, np.ndarray | np.floating) and v.dtype.kind == "f")


def is_complex(v: Any) -> bool:
    """Tell whether `v` is an array or a number of a complex type."""
    return isinstance(v, complex) or (
        isinstance(v, np.ndarray | np.complexfloating) and v.dtype.kind == "c"
    )


def is_number(v: Any) -> bool:
    """Tell whether `v` is an array or a number of floating or complex type."""
    return is_real(v) or is_complex(v)


KINDS: dict[str, Test] = {"real": is_real, "complex": is_complex, "any": is_number}


class Draw:
    """A program being drawn: what it has so far, with the plain values of its names.

    A plain one has real arguments of double precision only, and no containers.
    """

    def __init__(self, seed: int, plain: bool = False) -> None:
        self.seed, self.plain, self.rng = seed, plain, np.random.default_rng(seed)
        self.arguments: list[Argument] = []
        self.statements: list[str] = []
        self.pool: list[str] = []
        self.env: dict[str, Any] = dict(DEFINED)
        self.names = 0

    # Chances.

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, options: Sequence[Any]) -> Any:
        if not options:
            raise Unfit
        return options[int(self.rng.integers(len(options)))]

    def weighted(self, options: dict[str, int]) -> str:
        weights = np.array(list(options.values()), float)
        return list(options)[int(self.rng.choice(len(weights), p=weights / weights.sum()))]

    def integer(self, low: int, high: int) -> int:
        """Return an integer between two bounds, both within reach."""
        return int(self.rng.integers(low, high + 1))

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        return round(float(self.rng.uniform(low, high)), 2)

    def name(self, letter: str = "v") -> str:
        """Return a name not in use."""
        self.names += 1
        return f"{letter}{self.names}"

    # Values.

    def value(self, text: str) -> Any:
        """Return the plain value of an expression."""
        with quiet():
            return eval(text, self.env)

    def shape_of(self, text: str) -> tuple[int, ...]:
        return np.shape(self.value(text))

    def ndim(self, text: str) -> int:
        return len(self.shape_of(text))

    def some(self, test: Test) -> str | None:
        """Return an expression of the pool whose value passes, the latest most often."""
        fit = [t for t in self.pool if test(self.value(t))]
        if not fit:
            return None
        return fit[-1] if self.chance(0.3) else self.pick(fit)

    def shape(self, low: int = 0, high: int = 3, empty: bool = True) -> tuple[int, ...]:
        """Return a random shape with so many axes; lengths 0 and 1 are among them."""
        lengths = [1, 2, 2, 3, 3, 4] + [0] * (empty and self.chance(0.1))
        n = self.integer(low, high)
        return tuple(self.pick(lengths if n < 3 else lengths[:5]) for _ in range(n))

    def array(
        self,
        shape: Sequence[int] | None = None,
        *,
        kind: str = "real",
        low: int = 0,
        high: int = 3,
        least: int = 0,
    ) -> str:
        """Return an expression for an array: of this shape, or of so many axes and elements."""
        is_kind = KINDS[kind]

        def test(v: Any) -> bool:
            s = np.shape(v)
            fits = low <= len(s) <= high if shape is None else s == tuple(shape)
            return is_kind(v) and fits and np.size(v) >= least

        found = self.some(test) if self.chance(0.8) else None
        if found is not None:
            return found
        wanted = self.shape(low, high, least == 0) if shape is None else tuple(shape)
        if len(self.arguments) < 4 or self.chance(0.05):
            return self.argument(wanted, kind)
        return self.resized(wanted, kind) or self.argument(wanted, kind)

    def resized(self, shape: tuple[int, ...], kind: str) -> str | None:
        """Return an expression that gives what there is another shape."""
        source = self.some(lambda v: KINDS[kind](v) and np.size(v) > 0)
        return None if source is None else f"np.resize({source}, {shape})"

    def argument(self, shape: tuple[int, ...], kind: str = "real") -> str:
        """Make a new argument and return the expression for its array."""
        name = self.name("a")
        if not self.plain and self.chance(0.15):
            pattern = self.pick(list(CONTAINERS))
            leaves = (self.leaf(shape, kind), self.leaf(self.shape(0, 2), "real"))
            places = [access.format(name) for access in CONTAINERS[pattern]]
        else:
            pattern, leaves, places = "{0}", (self.leaf(shape, kind),), [name]
        self.accept(Argument(name, leaves, pattern))
        self.pool += places
        return places[0]

    def accept(self, argument: Argument) -> None:
        self.arguments.append(argument)
        self.env[argument.name] = argument.make()

    def leaf(self, shape: tuple[int, ...], kind: str) -> Leaf:
        """Return a new leaf of random values, type and layout."""
        if kind == "any":
            kind = "complex" if self.chance(0.25) and not self.plain else "real"
        if self.plain and kind == "complex":
            raise Unfit
        name = self.weighted(COMPLEX if kind == "complex" else REAL)
        dtype = np.dtype(float if self.plain else name)
        data = self.values(shape)
        if kind == "complex":
            data = data + 1j * self.values(shape)
        data = np.asarray(data).astype(dtype)
        if shape:
            return Leaf(data, self.weighted(LAYOUTS) if data.size else "C")
        python = dtype in (np.dtype(float), np.dtype(complex)) and self.chance(0.5)
        return Leaf(data, "python" if python else self.pick(["C", "scalar"]))

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return random numbers; now and then with zeros, or with equal ones among them."""
        x = np.asarray(self.rng.standard_normal(shape))
        if self.chance(0.06):
            return np.rint(x * 1.5)
        if self.chance(0.04):
            return np.where(self.rng.random(shape) < 0.4, 0.0, x)
        return x

    def python(self, kind: str = "real") -> str:
        """Return an expression for a Python number."""
        test = float if kind == "real" else complex
        found = self.some(lambda v: type(v) is test) if self.chance(0.7) else None
        if found is not None:
            return found
        if self.plain and kind == "complex":
            raise Unfit
        name = self.name("s")
        data = self.values(()) if kind == "real" else self.values(()) + 1j * self.values(())
        self.accept(Argument(name, (Leaf(np.asarray(data), "python"),)))
        self.pool.append(name)
        return name

    def within(self, text: str, domain: str | None) -> str:
        """Return an expression whose values lie in a domain; complex ones lie in all of them."""
        if domain is None or is_complex(self.value(text)):
            return text
        return self.pick(DOMAINS[domain]).format(text)

    def partner(self, text: str, kind: str = "real") -> str:
        """Return an operand that broadcasts against another."""
        shape = self.shape_of(text)
        if self.chance(0.15):
            return repr(self.pick([2, self.number(0.3, 2.0), -self.number(0.3, 2.0)]))
        if self.chance(0.25):
            return self.array(shape, kind=kind)
        narrow = tuple(1 if self.chance(0.35) else n for n in shape)
        narrow = narrow[self.integer(0, len(narrow)) :] if self.chance(0.4) else narrow
        if len(shape) < 3 and self.chance(0.2):
            narrow = (self.integer(1, 3), *narrow)
        return self.array(narrow, kind=kind)

    # Literals.

    def axis(self, text: str, none: bool = True, many: bool = True) -> str:
        """Return an axis of an array: a number of either sign, None, or a tuple."""
        n = self.ndim(text)
        if none and self.chance(0.25 if n else 1.0):
            return "None"
        if n == 0:
            raise Unfit
        if many and n > 1 and self.chance(0.35):
            axes = self.rng.permutation(n)[: self.integer(1, n)]
            return repr(tuple(self.signed(int(k), n) for k in axes))
        return repr(self.signed(self.integer(0, n - 1), n))

    def signed(self, axis: int, ndim: int) -> int:
        """Return an axis by the one or the other of its numbers."""
        return axis - ndim if self.chance(0.4) else axis

    def mask(self, shape: Sequence[int]) -> str:
        """Return an expression for a mask: a literal one, or one that depends on values."""
        source = self.some(lambda v: is_real(v) and np.shape(v) == tuple(shape) and bool(shape))
        if source is not None and self.chance(0.5):
            return f"({source} {self.pick('<>')} {self.number(-0.5, 0.5)})"
        return array_text(self.rng.random(shape) < 0.65)

    def ints(self, shape: Sequence[int], low: int, high: int) -> str:
        """Return an expression for integers between two bounds: a literal or an argument."""
        if high < low:
            raise Unfit
        data = np.asarray(self.rng.integers(low, high + 1, shape))
        if self.chance(0.3) and len(self.arguments) < 5:
            name = self.name("k")
            self.accept(Argument(name, (Leaf(data),)))
            return name
        return array_text(data)

    def options(self, **options: Any) -> str:
        """Return some of these keyword arguments, each half of the time, as source."""
        return "".join(
            f", {k}={v}" for k, v in options.items() if v is not None and self.chance(0.5)
        )

    # The program.

    def program(self) -> Program:
        """Return what was drawn; what nothing reads is part of the result, and some of the rest."""
        finite = [t for t in self.pool if is_number(self.value(t))]
        read = names_read(self.statements)
        results = [t for t in finite if t not in read and t[0] not in "as"]
        extra = [t for t in finite if t not in results and self.chance(0.1)]
        results = results or finite[-1:]
        return Program(
            self.seed, tuple(self.arguments), tuple(self.statements), tuple(results + extra)
        )


def names_read(statements: Sequence[str]) -> set[str]:
    """Return the names and other places that statements read."""
    nodes = [node for s in statements for node in ast.walk(ast.parse(s))]
    kinds = ast.Name | ast.Attribute | ast.Subscript
    return {ast.unparse(n) for n in nodes if isinstance(n, kinds) and isinstance(n.ctx, ast.Load)}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Turn NumPy's warnings into errors: a call that warns is not drawn."""
    state = np.errstate(divide="raise", over="raise", invalid="raise", under="ignore")
    with state, warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
