"""Mutants of the table itself: a rule's answer spoilt, or what the table says of its masks."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.mutation.mutant import Mutant
from yota.rules.registry import VJP, Live, Vjp, zero

Spoil = Callable[[Any], Any]


def reversed_axes(x: Any) -> Any:
    """Return the elements the other way round, in the same shape."""
    if np.ndim(x) > 1 and np.shape(x) == np.shape(x)[::-1]:
        return np.transpose(x)
    return np.flip(x) if np.ndim(x) else x


# A rule whose answers these do not change has no answer but 0 in all tests.
TELLING = ("twice the answer",)
SPOILT: dict[str, Spoil] = {
    "twice the answer": lambda x: 2 * x,
    "the sign turned": lambda x: -x,
    "the answer is 0": lambda x: 0 * x,
    "the answer the other way round": reversed_axes,
}
SPOILT_IF_COMPLEX: dict[str, Spoil] = {
    "the conjugate of the answer": lambda x: np.conjugate(x) if np.iscomplexobj(x) else x,
    "the real part of the answer": lambda x: np.real(x) + 0 * x if np.iscomplexobj(x) else x,
}


def answer_mutants() -> Iterator[Mutant]:
    """Yield the mutants of every entry of the table."""
    for fn, vjp in [(f, v) for f, v in VJP.items() if not is_of_tests(f)]:
        yield from rule_mutants(fn, vjp)
        yield from mask_mutants(fn, vjp)


def is_of_tests(fn: Any) -> bool:
    return (getattr(fn, "__module__", None) or "").startswith("tests.")


def rule_mutants(fn: Any, vjp: Vjp) -> Iterator[Mutant]:
    for k, rule in named_rules(vjp):
        if rule is None or rule is zero:
            continue
        for change, spoil in SPOILT.items():
            effect: list[bool] = []
            other = with_rule(vjp, k, spoilt(rule, spoil, effect))
            yield entry_mutant(fn, vjp, other, f"{change}, argument {k}", effect)
        for change, spoil in SPOILT_IF_COMPLEX.items():
            effect = []
            other = with_rule(vjp, k, spoilt(rule, spoil, effect))
            change = f"{change}, argument {k}"
            yield entry_mutant(fn, vjp, other, change, effect, touched=(fn, "complex"))
        if hasattr(rule, "inner"):
            effect = []
            other = with_rule(vjp, k, unsummed(rule, effect))
            yield entry_mutant(
                fn, vjp, other, f"what was broadcast not summed, argument {k}", effect
            )


def named_rules(vjp: Vjp) -> list[tuple[int | str | None, Any]]:
    """Return the rules with their positions or names; None stands for those behind."""
    rules: list[tuple[int | str | None, Any]] = list(enumerate(vjp.rules))
    rules += list(vjp.keywords.items())
    return [*rules, (None, vjp.rest)] if vjp.rest is not None else rules


def with_rule(vjp: Vjp, k: int | str | None, rule: Any) -> Vjp:
    if k is None:
        rest: Any = vjp.rest
        return dataclasses.replace(vjp, rest=lambda position: rule(rest(position)))
    if isinstance(k, str):
        return dataclasses.replace(vjp, keywords={**vjp.keywords, k: rule})
    return dataclasses.replace(vjp, rules=(*vjp.rules[:k], rule, *vjp.rules[k + 1 :]))


def spoilt(rule: Any, spoil: Spoil, effect: list[bool]) -> Any:
    """Return a rule whose answer is spoilt; `effect` tells afterwards whether it ever was."""

    def answer(dx: Any) -> Any:
        if isinstance(dx, list | tuple):
            return type(dx)([answer(d) for d in dx])
        if dx is None:
            return None
        bad = spoil(dx)
        effect.append(not np.array_equal(bad, dx, equal_nan=True))
        return bad

    def wrapped(original: Any) -> Any:
        @functools.wraps(original)
        def pulled(dy: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
            return answer(original(dy, y, *args, **kwargs))

        if hasattr(original, "inner"):
            pulled.inner = wrapped(original.inner)
        return pulled

    return wrapped(rule)


def unsummed(rule: Any, effect: list[bool]) -> Any:
    """Return an elementwise rule that leaves its answer in the shape of the output."""

    @functools.wraps(rule)
    def pulled(dy: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        dx = rule.inner(dy, y, *args, **kwargs)
        effect.append(dx is not None and np.shape(dx) != np.shape(rule(dy, y, *args, **kwargs)))
        return dx

    del pulled.inner
    return pulled


def mask_mutants(fn: Any, vjp: Vjp) -> Iterator[Mutant]:
    """Yield the table's word on masks left out."""
    if vjp.live is not Live.OPAQUE:
        other = dataclasses.replace(vjp, live=Live.OPAQUE)
        yield entry_mutant(fn, vjp, other, "masks are lost")
    if vjp.live is Live.SELECTS:
        other = dataclasses.replace(vjp, live=Live.MOVES)
        yield entry_mutant(fn, vjp, other, "no mask of what is left out")
    if vjp.sees is not None:
        other = dataclasses.replace(vjp, sees=None)
        yield entry_mutant(fn, vjp, other, "no mask of what is seen")


def entry_mutant(
    fn: Any,
    vjp: Vjp,
    other: Vjp,
    change: str,
    effect: list[bool] | None = None,
    touched: Any = None,
) -> Mutant:
    def put_in() -> None:
        VJP[fn] = other

    def take_out() -> None:
        VJP[fn] = vjp

    took_effect = None if effect is None else lambda: any(effect)
    place = f"table.{name_of(fn)}"
    reached = frozenset([fn if touched is None else touched])
    return Mutant(place, change, reached, put_in, take_out, touched is None, took_effect)


def name_of(fn: Any) -> str:
    owner = getattr(fn, "__self__", None)
    module = (getattr(fn, "__module__", None) or "").removeprefix("numpy").strip("._")
    owner_name = getattr(owner, "__name__", "")
    return ".".join(p for p in (module, owner_name, getattr(fn, "__name__", str(fn))) if p)
