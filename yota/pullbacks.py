"""Pullbacks: the reverse pass of a call as a function of the output's cotangent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from yota import cache
from yota.api import hand_back, report
from yota.arrays import own
from yota.codegen.runtime import MISS
from yota.program import Program
from yota.recording import Argument, Recording, is_boxed_leaf, seed_box
from yota.structs import flatten, pick_leaves, unflatten
from yota.tape import Structured, Var, hand_out
from yota.tracing import Traced
from yota.tracing.box import BUSY

Pullback = Callable[[Any], tuple[Any, ...]]


def vjp(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
    """Return `f(*args)` and its pullback: from a cotangent of the output to one per argument.

    The output may be any structure; the pullback takes one of the same structure and may be called
    any number of times.  A later call replays `f` if nothing that it reads has changed.
    """
    if BUSY:
        # a trace around this one records it all, and whoever observes hears of a recording
        recording = Recording(f, args, kwargs)
        output = recording.run(f)
        value = recording.value(output)
        report(recording, value, "vjp")
        return value, pullback_of(recording, output)
    slot = cache.slot_of(f, ("vjp", *kwargs), True)
    found = slot.answer(f, args, kwargs, None)
    if found is not None:
        answer: tuple[Any, Pullback] = found[0]
        return answer
    recording = Recording(f, args, kwargs)
    attempt = cache.Attempt(slot, recording, f, args, kwargs)
    output = recording.run(f)
    if attempt.captured is not None:
        attempt.keep(Program(recording.tape), Again(attempt.captured.fresh, template(recording)))
    else:
        attempt.retraced()
    return recording.value(output), pullback_of(recording, output)


def pullback_of(recording: Recording, output: Any) -> Pullback:
    """Return the pullback of a recorded call."""

    def pullback(dy: Any) -> tuple[Any, ...]:
        """Return the cotangent of each argument."""
        here = recording if recording.nested else recording.fork()
        with here.trace.under_way(sys._getframe()):
            gradients = hand_back(here, pair_seeds(here, output, dy))
        return (
            gradients if here.nested else tuple(hand_out(g, here.trace.values) for g in gradients)
        )

    return pullback


def pair_seeds(recording: Recording, output: Any, dy: Any) -> list[tuple[Traced, Any]]:
    """Return each traced output with its cotangent; raise ValueError where structures differ."""
    outputs, structure = flatten(output, leaf=is_boxed_leaf)
    try:
        seeds = pick_leaves(structure, dy)
    except (TypeError, LookupError, AttributeError):
        raise ValueError("the pullback takes a cotangent of the output's structure") from None
    found = []
    for k, y in enumerate(outputs):
        seed = seeds[k]
        if isinstance(y, Traced) and seed is not None:
            here = Traced(recording.trace, y._var, y._value)
            found.append((here, seed_box(recording, here, seed)))
    return found


# replayed, where nothing has changed


def template(recording: Recording) -> Recording:
    """Return a recording without the values of the call that it was made of."""
    new = recording.fork()
    new.inputs, new.output, new.aux, new.trace.values = [], None, None, {}
    new.arguments = [
        Argument(a.structure, dict.fromkeys(a.boxes), a.wanted, a.kinds)  # type: ignore[arg-type]
        for a in recording.arguments
    ]
    return new


@dataclass(frozen=True)
class Again:
    """The answer of the cache: value and pullback, MISS where captured state has changed."""

    fresh: Callable[..., bool]
    template: Recording

    def __call__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return value and pullback; GuardError where the arguments lead another way."""
        if not self.fresh(f, args, kwargs):
            return MISS
        here = self.template.fork()
        tape, values = here.tape, here.trace.values
        values.update(tape.replay([own(v) for v in tape.entry.leaves(args, kwargs)]))
        result: Structured = tape.result
        boxes = [
            Traced(here.trace, v, values[v]) if isinstance(v, Var) else v for v in result.leaves
        ]
        return hand_out(result, values), pullback_of(here, unflatten(result.structure, boxes))
