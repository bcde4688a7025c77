"""The table of derivatives, and the ways to extend it."""

from __future__ import annotations

import enum
import functools
import types
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from yota.errors import RuleError

Rule = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])


class Live(enum.Enum):
    """How an op hands the mask of live elements from its output's cotangent to its inputs'.

    A dead element is one that a mask, a selection or an index left out: a structural zero.
    """

    OPAQUE = "every input element counts as live again"
    SMOOTH = "element by element, and the slope is always finite"
    POINTWISE = "element by element; where the slope is not finite, dead elements are masked"
    MOVES = "the rule moves or sums elements: applied to the mask it gives the input's mask"
    SELECTS = "as MOVES, and elements that are left out become dead"


class Zero:
    """The rule of an argument whose derivative is zero everywhere."""

    def __repr__(self) -> str:
        return "yota.zero"

    def __call__(self, dy: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        """Contribute nothing."""


zero = Zero()


@dataclass(frozen=True, slots=True)
class Vjp:
    """The rules of one function: one per positional argument, `rest` makes those behind.

    `keywords` are the rules of arguments given by name.  `live` may depend on a call's operands.
    `sees` is called with them and says which elements of the first one the call looks at: None for
    all of them, else a function that makes the mask.
    """

    rules: tuple[Rule | None, ...]
    rest: Callable[[int], Rule] | None = None
    live: Live | Callable[..., Live] = Live.OPAQUE
    sees: Callable[..., Callable[[], Any] | None] | None = None
    keywords: Mapping[str, Rule | None] = field(default_factory=dict)

    def mode(self, *args: Any, **kwargs: Any) -> Live:
        """Return how a call with these operands hands the mask of live elements on."""
        return self.live if isinstance(self.live, Live) else self.live(*args, **kwargs)

    def rule(self, position: int | str) -> Rule | None:
        """Return the rule for one argument, None if no derivative is known."""
        if isinstance(position, str):
            return self.keywords.get(position)
        if position < len(self.rules):
            return self.rules[position]
        return None if self.rest is None else self.rest(position)


VJP: dict[Callable[..., Any], Vjp] = {}
NONDIFF: set[Callable[..., Any]] = set()
PRIMITIVES: set[Callable[..., Any]] = set()
# Called when the derivative of a function that had one becomes another one.
CHANGED: list[Callable[[], None]] = []
# Functions without a rule by decision, each with what to do instead.
REFUSED: dict[Callable[..., Any], str] = {}
# Functions that call the user's: each with a twin that does the same by functions with rules.
COMPOSED: dict[Callable[..., Any], Callable[..., Any]] = {}


def defvjp(
    fn: Callable[..., Any],
    *rules: Rule | None,
    rest: Callable[[int], Rule] | None = None,
    live: Live | Callable[..., Live] = Live.OPAQUE,
    sees: Callable[..., Callable[[], Any] | None] | None = None,
    keywords: Mapping[str, Rule | None] | None = None,
) -> None:
    """Register how to pull a cotangent of `fn`'s output back to each positional argument.

    Each rule is `rule(dy, y, *args, **kwargs) -> dx` in plain NumPy, `dx` of the argument's shape;
    an argument that is a list takes a list.  None: the derivative is unknown and asking for it
    raises RuleError.  `yota.zero`: it is zero.  `keywords` holds rules of arguments given by name.
    Raises TypeError for a function that is no primitive: calls of it would not be seen.
    """
    if not callable(fn) or not all(r is None or callable(r) for r in rules):
        raise TypeError("defvjp(fn, *rules) takes a function, and for each argument a rule or None")
    if not rules and rest is None:
        raise TypeError("defvjp(fn, *rules) needs a rule; for no derivative at all use nondiff(fn)")
    if isinstance(fn, types.FunctionType) and fn not in PRIMITIVES and not _is_numpys(fn):
        raise TypeError(
            f"defvjp: {fn.__name__} is no primitive, so that calls of it would not be seen: "
            f"decorate it with yota.primitive, or write f = yota.primitive({fn.__name__}) first"
        )
    if fn in VJP or fn in NONDIFF:
        _changed()
    VJP[fn] = Vjp(rules, rest, live, sees, keywords or {})
    NONDIFF.discard(fn)
    REFUSED.pop(fn, None)


def _changed() -> None:
    for callback in CHANGED:
        callback()


def elementwise(
    fn: Callable[..., Any],
    *rules: Rule | None,
    live: Live = Live.POINTWISE,
    keywords: Mapping[str, Rule | None] | None = None,
) -> None:
    """Register rules of a broadcasting function; what broadcasting repeated is summed here."""
    named = {k: _unbroadcasting(r, k) for k, r in (keywords or {}).items()}
    defvjp(fn, *(_unbroadcasting(r, k) for k, r in enumerate(rules)), live=live, keywords=named)


def _unbroadcasting(rule: Rule | None, position: int | str) -> Rule | None:
    if rule is None or rule is zero:
        return rule

    @functools.wraps(rule)
    def pulled(dy: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        operand = kwargs[position] if isinstance(position, str) else args[position]
        return unbroadcast(rule(dy, y, *args, **kwargs), np.shape(operand))

    pulled.inner = rule  # type: ignore[attr-defined]  # the reverse pass sums in a step of its own
    return pulled


def unbroadcast(dx: Any, shape: tuple[int, ...]) -> Any:
    """Sum `dx` over the axes along which an argument of this shape was repeated; None stays."""
    have = np.shape(dx)
    if dx is None or have == shape:
        return dx
    lead = len(have) - len(shape)
    if lead < 0:
        return np.broadcast_to(dx, shape)
    axes = tuple(range(lead)) + tuple(
        k + lead for k, n in enumerate(shape) if n == 1 and have[k + lead] != 1
    )
    summed = np.sum(dx, axis=axes) if axes else dx
    return summed if np.shape(summed) == shape else np.reshape(summed, shape)


def nondiff(fn: F) -> F:
    """Register `fn` as having no derivative anywhere: its result is a constant of the gradient.

    A function of Python's becomes a primitive; use what is returned.
    """
    if isinstance(fn, types.FunctionType) and not _is_numpys(fn):
        fn = primitive(fn)
    if fn in VJP:
        _changed()
    NONDIFF.add(fn)
    return fn


def takes_list(rule: Rule) -> Rule:
    """Mark the rule of an argument that is a list; elsewhere a list stands for an array."""
    rule.takes_list = True  # type: ignore[attr-defined]  # asked where a call is recorded
    return rule


def refused(fn: Callable[..., Any], cure: str) -> None:
    """Register `fn` as having no rule by decision; `cure` says what to do instead."""
    REFUSED[fn] = cure


def composed(fn: Callable[..., Any]) -> Callable[[F], F]:
    """Register the decorated twin to run in place of `fn` where traced values meet it."""

    def register(twin: F) -> F:
        COMPOSED[fn] = twin
        return twin

    return register


def _is_numpys(fn: Callable[..., Any]) -> bool:
    return (fn.__module__ or "").partition(".")[0] in ("numpy", "scipy")


def primitive(fn: F) -> F:
    """Make `fn` one op of the tape, to be given its own rules with `defvjp`.

    Calls on plain values run `fn` as it is; what it is given of a traced call cannot be written to.
    """
    if fn in PRIMITIVES:
        return fn

    if not callable(fn):
        raise TypeError(f"primitive(fn) takes a function, not {fn!r}")

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        box = find_box((args, kwargs))
        if box is None:
            return fn(*args, **kwargs)
        return box.__yota_record__(call, args, kwargs)

    PRIMITIVES.add(call)
    return call  # type: ignore[return-value]  # the wrapper has the signature of fn


def find_box(args: Any) -> Any:
    """Return the first traced value among `args` and the containers in them, else None."""
    for a in args:
        if hasattr(type(a), "__yota_record__"):
            return a
        if isinstance(a, tuple | list | deque) and (inner := find_box(a)) is not None:
            return inner
        if isinstance(a, dict) and (inner := find_box(tuple(a.values()))) is not None:
            return inner
        if type(a) is slice and (inner := find_box((a.start, a.stop, a.step))) is not None:
            return inner
    return None


def is_unused(dy: Any) -> bool:
    """Tell whether a cotangent is that of one output among several which nothing was made of."""
    ask = getattr(type(dy), "__yota_is_unused__", None)
    return ask is not None and bool(ask(dy))


def is_complex(x: Any) -> bool:
    """Tell whether `x`, a value or a container's element, is of complex type."""
    dtype = getattr(x, "dtype", None)
    return isinstance(x, complex) if dtype is None else dtype.kind == "c"


def real_dtype(x: Any) -> Any:
    """Return the dtype of |x|, so that counts and weights do not widen single precision."""
    dtype = getattr(x, "dtype", np.dtype(float))
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return dtype.newbyteorder("=") if dtype.kind == "f" else np.dtype(float)


def refuse(fn: str, cure: str, **options: Any) -> None:
    """Raise RuleError, naming the option and the cure, if one of these options is given."""
    for name, value in options.items():
        if value is not None and value is not False and value is not np._NoValue:
            raise RuleError(f"no derivative is known of {fn} with {name}={value!r}: {cure}")


def refuse_real(fn: str, dtype: Any, *operands: Any) -> None:
    """Raise RuleError if `dtype` makes the function drop the imaginary part of an operand."""
    if dtype is not None and np.dtype(dtype).kind != "c" and any(map(is_complex, operands)):
        refuse(fn, "take np.real of the operands first", dtype=np.dtype(dtype).name)


def conj(x: Any) -> Any:
    """Return the conjugate of `x`; what is real stays as it is and costs nothing."""
    return np.conjugate(x) if is_complex(x) else x
