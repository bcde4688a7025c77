"""Make ops of the tape of SciPy's functions, which NumPy's protocols do not show to a trace."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from yota.rules.registry import PRIMITIVES, Live, Rule, defvjp, elementwise, find_box
from yota.tracing.dispatch import as_array

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Makes the functions of one module of ours of those of one module of SciPy's."""

    module: str
    source: str

    def __call__(
        self,
        fn: Function,
        *rules: Rule | None,
        spreads: bool = False,
        typed_by_values: bool = False,
        rest: Callable[[int], Rule] | None = None,
        name: str = "",
        path: str = "",
        signature: inspect.Signature | None = None,
        complete: bool = False,
    ) -> Function:
        """Return `fn` as one op with a rule for each argument, in SciPy's order of them.

        `spreads`: the arguments broadcast.  `typed_by_values`: the result's dtype depends on the
        values.  `path` is what stands behind the module in SciPy's name, where that is not `name`.
        `complete`: rules take every argument, by position.
        """
        name = name or fn.__name__
        call = _op(fn, signature or inspect.signature(fn), complete)
        call.__name__, call.__qualname__, call.__module__ = name, name, self.module
        call.__yota_public__ = (self.source, path or name)  # type: ignore[attr-defined]  # for generated code
        call.__yota_typed_by_values__ = typed_by_values  # type: ignore[attr-defined]  # for the guards
        PRIMITIVES.add(call)
        if spreads:
            elementwise(call, *rules)
        else:
            defvjp(call, *rules, rest=rest, live=Live.OPAQUE)
        # under this name a saved tape finds it again
        setattr(sys.modules[self.module], name, call)
        return call


def _op(fn: Function, signature: inspect.Signature, complete: bool) -> Function:
    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        box = find_box((args, kwargs))
        if box is None:
            return fn(*args, **kwargs)
        args, kwargs = settled(signature, args, kwargs, complete)
        return box.__yota_record__(call, args, kwargs)

    return call


def settled(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], complete: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call with its traced operands by position, where rules look for them.

    Leave to overwrite an operand is not passed on: the tape keeps it.
    """
    given = signature.bind(*args, **kwargs).arguments
    parameters = list(signature.parameters.values())
    if parameters[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return tuple(map(_as_operand, args)), kwargs
    given = {k: v for k, v in given.items() if not k.startswith("overwrite_")}
    traced = [k for k, p in enumerate(parameters) if find_box((given.get(p.name),)) is not None]
    last = len(parameters) if complete else traced[-1] + 1
    front, back = parameters[:last], parameters[last:]
    placed = tuple(_as_operand(given.get(p.name, p.default)) for p in front)
    return placed, {p.name: given[p.name] for p in back if p.name in given}


def _as_operand(x: Any) -> Any:
    """Return a list of traced numbers as an array; tuples are pairs that belong together."""
    return as_array(x) if type(x) is list and find_box((x,)) is not None else x
