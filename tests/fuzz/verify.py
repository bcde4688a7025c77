"""What must hold of every program: value, gradients, replay, passes, code."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import yota
from tests.fuzz.compare import Count, Off, differences, far, unequal
from tests.fuzz.peers import Peer, off_from
from tests.fuzz.program import Program
from yota.passes import PIPELINE, optimise
from yota.rules.registry import VJP, zero
from yota.structs import flatten, is_float
from yota.tape import Call, Tape, vars_in


class Refused(Exception):
    """A rule has no answer for a program, and says why."""


class Failure(AssertionError):
    """What does not hold of a program; `kind` says which of the promises."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


@dataclass
class Report:
    """What was seen of a program that holds."""

    count: Count = field(default_factory=Count)
    reached: set[tuple[Callable[..., Any], int | str]] = field(default_factory=set)
    guarded: int = 0
    peers: int = 0


def examine(program: Program, peers: Sequence[Peer] = (), second: bool = False) -> Report:
    """Raise Failure for the first promise that a program breaks; return what was seen.

    Refused is raised where a rule says why it has no answer.
    """
    report = Report()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = program.function()
        want = gradient_of(program, f)
        with telling("replay"):
            tape = yota.gradtape(f, *program.args())
        report.reached |= reached(tape)
        runs = runs_of(tape, f, program)
        same_everywhere(program, tape, runs, want)
        forms_are_near(program, f, tape, want)
        report.guarded = elsewhere(program, f, runs)
        against_differences(program, want[1], report.count)
        if second:
            second_derivative(program, report.count)
        for peer in peers:
            report.peers += compare_with(program, peer, want[1])
    return report


class telling:  # noqa: N801  # a context manager
    """Turn an error of the engine's into a Failure of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, Failure):
            return
        text = str(error)
        if isinstance(error, yota.RuleError) and "the rule of" not in text:
            raise Refused(text) from error
        last = traceback.extract_tb(trace)[-1]
        text = f"{type(error).__name__}: {text} ({last.filename}:{last.lineno})"
        raise Failure(f"{self.kind} raises {type(error).__name__}", text) from error


def gradient_of(program: Program, f: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return value and gradients; the value is the plain one, the arguments stay as they were."""
    plain = f(*program.args())
    args, before = program.args(), program.args()
    with telling("grad"):
        value, g = yota.grad(f, *args, exact=True)
    must_equal("value", value, plain)
    must_equal("arguments", args, before)
    gradients = tuple(g)
    for arg, got in zip(before, gradients, strict=True):
        for x, dx in zip(*leaves_of(arg, got), strict=True):
            fits = np.shape(x) == np.shape(dx) and (
                type(x) is type(dx) and np.asarray(x).dtype.newbyteorder("=") == np.asarray(dx).dtype.newbyteorder("=")
            )
            if not fits:
                raise Failure("structure", f"gradient {dx!r} of {x!r}")
    return value, gradients


def leaves_of(arg: Any, gradient: Any) -> tuple[list[Any], list[Any]]:
    """Return the floating leaves of an argument and of its gradient."""
    return flatten(arg, leaf=is_float)[0], flatten(gradient, leaf=is_float)[0]


def must_equal(kind: str, got: Any, want: Any) -> None:
    text = unequal(got, want)
    if text is not None:
        raise Failure(kind, text)


Run = Callable[..., Any]


def runs_of(tape: Tape, f: Any, program: Program) -> dict[str, Run]:
    """Return all the ways to run a tape again that change no bit, by name."""
    runs: dict[str, Run] = {"replay": tape.play}
    for form in ("lean", "bound"):
        with telling(f"code {form}"):
            runs[f"code {form}"] = tape.compile(form=form, exact=True)
    with telling("simplegrad"):
        plain = yota.simplegrad(f, *program.args())

    def simple(*args: Any) -> Any:
        value, *gradients = plain(*args)
        return value, tuple(gradients)

    runs["simplegrad"] = simple
    return runs


def same_everywhere(program: Program, tape: Tape, runs: dict[str, Run], want: Any) -> None:
    """Check replay, both forms of code and the plain function, and each pass alone and in order."""
    for name, run in runs.items():
        for _ in range(1 + name.startswith("code")):
            with telling(name):
                must_equal(name, run(*program.args()), want)
    for passes in (*((name,) for name in PIPELINE), PIPELINE):
        kind = "pass" if len(passes) == 1 else "stage"
        with telling(f"{kind} {passes[0]}"):
            stages = optimise(tape, passes, exact=True)
        for stage in stages:
            with telling(f"{kind} {stage.name}"):
                must_equal(f"{kind} {stage.name}", stage.tape.play(*program.args()), want)


def forms_are_near(program: Program, f: Any, tape: Tape, want: Any) -> None:
    """Check what may round otherwise, the default: a first call, a second one, and the code."""
    for name, run in (("forms first", None), ("forms again", None), ("forms code", tape.compile)):
        with telling(name):
            if run is None:
                value, g = yota.grad(f, *program.args())
                got = (value, tuple(g))
            else:
                got = run()(*program.args())
        text = far(got, want)
        if text is not None:
            raise Failure(name, text)


def elsewhere(program: Program, f: Any, runs: dict[str, Run]) -> int:
    """Check that tape and code answer for other arguments as a new trace does, or all raise."""
    leaves = other_leaves(program)
    try:
        plain = f(*program.args(leaves))
    except Exception:
        return 0
    want = grad_elsewhere(program, f, leaves, plain)
    answered = {}
    for name, run in runs.items():
        try:
            with telling(f"{name} elsewhere"):
                answer = run(*program.args(leaves))
        except Failure as failure:
            if not isinstance(failure.__cause__, yota.GuardError | ValueError):
                raise
            answered[name] = False
            continue
        answered[name] = True
        must_equal(f"{name} elsewhere", answer, want)
    if len(set(answered.values())) > 1:
        raise Failure("guards elsewhere", f"not all hold: {answered}")
    return int(not answered["replay"])


def grad_elsewhere(program: Program, f: Any, leaves: list[Any], plain: Any) -> Any:
    """Return value and gradients for other arguments, as of a function never seen before."""
    fresh = program.function()
    with telling("grad elsewhere"):
        value, g = yota.grad(f, *program.args(leaves), exact=True)
        new, new_g = yota.grad(fresh, *program.args(leaves), exact=True)
    must_equal("value elsewhere", value, plain)
    must_equal("gradient elsewhere", (value, tuple(g)), (new, tuple(new_g)))
    with telling("forms elsewhere"):
        near, near_g = yota.grad(f, *program.args(leaves))
    text = far((near, tuple(near_g)), (new, tuple(new_g)))
    if text is not None:
        raise Failure("forms elsewhere", text)
    return new, tuple(new_g)


def other_leaves(program: Program) -> list[Any]:
    """Return other values for all leaves."""
    rng = np.random.default_rng(program.seed)
    return [other(leaf.make(), rng) if leaf.is_float else leaf.make() for leaf in program.leaves]


def other(x: Any, rng: np.random.Generator, far: float = 0.5) -> Any:
    """Return other values of the same type and layout, so far from these."""
    if not isinstance(x, np.ndarray):
        return type(x)(x * (1 - far / 2) + far / 4)
    new = np.empty_like(x)
    new[...] = x * rng.uniform(1 - far, 1 + far / 2, x.shape) + far * rng.uniform(0.05, 0.15, x.shape)
    return new


def against_differences(program: Program, gradients: tuple[Any, ...], count: Count) -> None:
    """Compare gradients with central differences of the program in double precision."""
    wide = program.widened()
    f, leaves = wide.function(), [leaf.make() for leaf in wide.leaves]
    if program.is_narrow:
        gradients = narrow_gradients(program, wide, f, gradients)
    for off in differences(lambda x: float(f(*wide.args(x))), leaves, by_leaf(program, gradients), count):
        if not is_pole(wide, f, leaves, off):
            raise Failure("gradient", str(off))
        count.compared, count.left_out = count.compared - 1, count.left_out + 1


def is_pole(program: Program, f: Any, leaves: list[Any], off: Off) -> bool:
    """Tell whether a NaN stands at this very point alone: a slope of infinity times a zero there."""
    if np.isfinite(off.got):
        return False
    rng = np.random.default_rng(program.seed)
    moved = [other(x, rng, 1e-3) if leaf.is_float else x for x, leaf in zip(leaves, program.leaves, strict=True)]
    near = by_leaf(program, tuple(yota.grad(f, *program.args(moved))[1]))
    return bool(np.isfinite(np.asarray(near[off.leaf])[off.index]))


def by_leaf(program: Program, gradients: tuple[Any, ...]) -> list[Any]:
    """Return a gradient for each leaf, None for one of integers."""
    found = iter([g for got in gradients for g in flatten(got, leaf=is_float)[0]])
    return [next(found) if leaf.is_float else None for leaf in program.leaves]


def narrow_gradients(program: Program, wide: Program, f: Any, narrow: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients in double precision, near which those of less precision must lie."""
    with telling("grad wide"):
        value, g = yota.grad(f, *wide.args())
    coarse = 0.05 if "float16" in program.listing() else 2e-3
    plain = program.function()(*program.args())
    if abs(plain - value) <= coarse * max(1.0, abs(value)):
        for k, (a, b) in enumerate(zip(by_leaf(program, narrow), by_leaf(program, tuple(g)), strict=True)):
            if b is None:
                continue
            scale = np.max(np.abs(b), initial=1.0)
            if np.isfinite(scale) and not np.all(np.abs(a - b) <= coarse * scale):
                raise Failure("precision", f"leaf {k}: {a!r}, in double precision {b!r}")
    return tuple(g)


def compare_with(program: Program, peer: Peer, gradients: tuple[Any, ...]) -> int:
    """Compare gradients with another engine's, where it knows the program."""
    theirs = peer.gradients(program)
    if theirs is None:
        return 0
    text = off_from(by_leaf(program, gradients), theirs, program)
    if text is not None:
        raise Failure(f"peer {peer.name}", text)
    return 1


def second_derivative(program: Program, count: Count) -> None:
    """Compare the slope of the gradient along one direction with differences of it."""
    wide = program.widened()
    f, leaves = wide.function(), [leaf.make() for leaf in wide.leaves]
    way = [direction(np.shape(x), k) for k, x in enumerate(leaves)]

    def along(*args: Any) -> Any:
        total = 0.0
        for g, d in zip(by_leaf(wide, tuple(yota.grad(f, *args)[1])), way, strict=True):
            if g is not None:
                total = total + np.sum(np.real(g * d))
        return total

    def at(t: Sequence[Any]) -> float:
        moved = [stepped(x, t[0] * d) for x, d in zip(leaves, way, strict=True)]
        return float(along(*wide.args(moved)))

    with telling("second"):
        _, g = yota.grad(along, *wide.args())
    pairs = zip(by_leaf(wide, tuple(g)), way, strict=True)
    slope = sum(float(np.sum(np.real(x * d))) for x, d in pairs if x is not None)
    for off in differences(at, [0.0], [slope], count, 1e-4):
        if np.isfinite(slope):
            raise Failure("second", str(off))


def stepped(x: Any, by: Any) -> Any:
    """Return a leaf moved by so much; integers stay."""
    if not isinstance(x, np.ndarray):
        return x if isinstance(x, int) else type(x)(x + by)
    if x.dtype.kind not in "fc":
        return x
    new = np.empty_like(x)
    new[...] = x + by
    return new


def direction(shape: tuple[int, ...], k: int) -> Any:
    return np.cos(np.arange(1.0 + k, np.prod(shape, dtype=int) + 1.0 + k)).reshape(shape)


def rules_run(program: Program) -> set[tuple[Callable[..., Any], int | str]]:
    """Return the rules that the gradient of a program takes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with telling("grad"):
            return reached(yota.gradtape(program.function(), *program.args()))


def reached(tape: Tape) -> set[tuple[Callable[..., Any], int | str]]:
    """Return the rules that the reverse pass ran: function and position."""
    found = set()
    ran = {op.origin.of for _, op in tape if op.origin.of is not None}
    for var, op in tape:
        if tape.is_reverse(var):
            break
        if not isinstance(op, Call) or op.fn not in VJP:
            continue
        if var not in tape.cotangents and var not in ran:
            continue
        for position, arg in (*enumerate(op.args), *op.kwargs):
            rule = VJP[op.fn].rule(position)
            if rule not in (None, zero) and any(v in tape.cotangents for v in vars_in(arg)):
                found.add((op.fn, position))
    return found
