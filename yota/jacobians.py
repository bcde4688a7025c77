"""Jacobians: a reverse pass recorded once, and run for all rows together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from yota import cache
from yota.api import as_argnums, hand_back, pick, report
from yota.arrays import own
from yota.batching import RaggedError, run_batched
from yota.codegen.runtime import MISS
from yota.program import Program
from yota.recording import Recording, is_boxed_leaf, seed_box
from yota.structs import flatten, unflatten
from yota.tape import Tape, Var, hand_out, spec_of, tree_vars
from yota.tracing import Traced
from yota.tracing.box import BUSY

# of unit cotangents: the leaves of the gradient, stacked over them, and the gradient's structure
Rows = tuple[list[Any], Any]


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Jacobian of `f`: the output's axes, then the leaf's.

    Structures nest: at each array of the output stands the structure of the argument.  The reverse
    pass is recorded once and run for all rows together, op by op where an op allows it; a later
    call replays what was recorded if nothing that `f` reads has changed.
    """

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        numbers = as_argnums(argnums, len(args))
        if BUSY:
            # a trace around this one records it all, and whoever observes hears of a recording
            return recorded_jacobian(Recording(f, args, kwargs, numbers), f, argnums, [])
        slot = cache.slot_of(f, ("jacobian", str(argnums), *kwargs), True)
        found = slot.answer(f, args, kwargs, None)
        if found is not None:
            return found[0]
        recording = Recording(f, args, kwargs, numbers)
        attempt = cache.Attempt(slot, recording, f, args, kwargs)
        blocks: list[Block | None] = []
        result = recorded_jacobian(recording, f, argnums, blocks)
        keep(attempt, recording, blocks)
        return result

    return jacobian_of


def recorded_jacobian(
    recording: Recording, f: Callable[..., Any], argnums: Any, blocks: list[Block | None]
) -> Any:
    """Run `f` and its reverse passes; `blocks` gets what can be replayed, None for the rest."""
    output = recording.run(f)
    if not recording.nested:
        report(recording, recording.value(output), "vjp")
    outputs, structure = flatten(output, leaf=is_boxed_leaf)
    found = []
    for y in outputs:
        kept: list[Pull] = []
        shape, dtype = np.shape(y), spec_of(y._value if isinstance(y, Traced) else y).dtype
        found.append(block(partial(pull_rows, recording, y, argnums, kept), shape, dtype))
        blocks.append(Block(kept[0], shape, dtype) if kept else None)
    return unflatten(structure, found)


def block(pull: Callable[[Any], Rows], shape: tuple[int, ...], dtype: Any) -> Any:
    """Return one block of a Jacobian: the gradient for each unit cotangent, stacked.

    Of a complex output z the real argument x gets dz/dx, and a complex one too where z is
    holomorphic; elsewhere there is no such number: TypeError.
    """
    size = int(np.prod(shape, dtype=int))
    units = np.eye(size, dtype=dtype).reshape(size, *shape)
    found, structure = pull(units)
    if dtype.kind == "c":
        turned, _ = pull(1j * units)
        found = list(map(complex_rows, found, turned))
    return unflatten(structure, [np.reshape(v, shape + np.shape(v)[1:]) for v in found])


def pull_rows(recording: Recording, y: Any, argnums: Any, kept: list[Pull], seeds: Any) -> Rows:
    """Return the gradient for each cotangent of `y`; `kept` gets what can be replayed."""
    if not recording.nested and isinstance(y, Traced):
        together = pull_together(recording, y, argnums, kept, seeds)
        if together is not None:
            return together
    rows = seeds if len(seeds) else [np.zeros(np.shape(y), seeds.dtype)]
    found = [flatten(pull_one(recording, y, s, argnums), leaf=is_boxed_leaf) for s in rows]
    stacked = [
        in_order_of(np.stack(leaf), leaf[0]) for leaf in zip(*(f[0] for f in found), strict=True)
    ]
    return [v[: len(seeds)] for v in stacked], found[0][1]


def in_order_of(rows: Any, row: Any) -> Any:
    """Return rows in the byte order of each of them, which NumPy's joining does not keep."""
    dtype = getattr(row, "dtype", rows.dtype)
    return rows if dtype.isnative else rows.astype(dtype)


def pull_one(recording: Recording, y: Any, seed: Any, argnums: Any) -> Any:
    """Return the gradient for one cotangent of `y`."""
    here, gradients = recorded(recording, y, seed)
    if not here.nested:
        gradients = tuple(hand_out(g, here.trace.values) for g in gradients)
    return pick(gradients, argnums)


def recorded(recording: Recording, y: Any, seed: Any) -> tuple[Recording, tuple[Any, ...]]:
    """Record the reverse pass of one output for one cotangent."""
    here = recording if recording.nested else recording.fork()
    with here.trace.under_way(sys._getframe()):
        seeds = []
        if isinstance(y, Traced):
            box = Traced(here.trace, y._var, y._value)
            seeds.append((box, seed_box(here, box, seed)))
        return here, hand_back(here, seeds)


def pull_together(
    recording: Recording, y: Traced, argnums: Any, kept: list[Pull], seeds: Any
) -> Rows | None:
    """Record the reverse pass once and run it for all rows; None where a rule reads a cotangent."""
    here, gradients = recorded(recording, y, first_of(seeds, np.shape(y._value)))
    tape = here.tape
    if len(tape.guards) > len(recording.tape.guards) or tape.seed is None:
        return None
    pull = Pull(tape, gradients, argnums)
    with here.trace.under_way(sys._getframe()):
        try:
            rows = pull.rows(here.trace.values, seeds)
        except RaggedError:
            return None
    kept.append(pull)
    return rows


def first_of(seeds: Any, shape: tuple[int, ...]) -> Any:
    """Return the cotangent that a reverse pass is recorded with."""
    return seeds[0] if len(seeds) else np.zeros(shape, seeds.dtype)


@dataclass(frozen=True)
class Pull:
    """A recorded reverse pass of which the seed is an input."""

    tape: Tape
    gradients: tuple[Any, ...]
    argnums: Any

    def rows(self, values: dict[Var, Any], seeds: Any) -> Rows:
        """Return the gradient for each cotangent, from the values of one call."""
        tape, wanted = self.tape, set(tree_vars(self.gradients))
        if tape.seed is None:
            raise TypeError("a reverse pass without a seed has no rows")
        found = run_batched(tape, values, tape.seed, seeds, wanted)
        trees = tuple(
            unflatten(g.structure, [None if v is None else _Leaf(v) for v in g.leaves])
            for g in self.gradients
        )
        leaves, structure = flatten(pick(trees, self.argnums), leaf=lambda v: isinstance(v, _Leaf))
        dtypes = [tape[v.var].spec.dtype for v in leaves]
        rows = [found[v.var].astype(d, copy=False) for v, d in zip(leaves, dtypes, strict=True)]
        return rows, structure


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf of a gradient while its rows are found."""

    var: Var


def complex_rows(plain: Any, turned: Any) -> Any:
    """Return dz/dx from the pullbacks of 1 and of i."""
    if not np.iscomplexobj(plain):
        return plain - 1j * turned
    if not np.allclose(turned, 1j * plain, equal_nan=True):
        raise TypeError(
            "the function is not holomorphic: a complex output has no complex derivative there; "
            "differentiate its real and its imaginary part with respect to real arguments"
        )
    return plain


# replayed, where nothing has changed


@dataclass(frozen=True)
class Block:
    """One output of a recorded call: its reverse pass, and what it is an array of."""

    pull: Pull
    shape: tuple[int, ...]
    dtype: Any

    def replayed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the block for other arguments; GuardError where they lead another way."""
        tape = self.pull.tape
        leaves = [own(v) for v in tape.entry.leaves(args, kwargs)]
        values = tape.replay([*leaves, cache.as_seed(tape, np.zeros(self.shape, self.dtype)[()])])
        return block(partial(self.pull.rows, values), self.shape, self.dtype)


@dataclass(frozen=True)
class Again:
    """The answer of the cache: the Jacobian by replay, MISS where captured state has changed."""

    fresh: Callable[..., bool]
    blocks: tuple[Block, ...]
    structure: Any

    def __call__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the Jacobian; arguments of another structure raise GuardError."""
        if not self.fresh(f, args, kwargs):
            return MISS
        return unflatten(self.structure, [b.replayed(args, kwargs) for b in self.blocks])


def keep(attempt: cache.Attempt, recording: Recording, blocks: list[Block | None]) -> None:
    """Let a recorded call answer later ones, where all its blocks can be replayed."""
    found = [b for b in blocks if b is not None]
    captured = attempt.captured
    if found and len(found) == len(blocks) and captured is not None:
        structure = recording.tape.result.structure
        answer = Again(captured.fresh, tuple(found), structure)
        attempt.keep(Program(found[0].pull.tape), answer)
    else:
        attempt.retraced()
