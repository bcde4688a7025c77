"""What users call: grad and its siblings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from types import FunctionType
from typing import Any

import numpy as np

from yota import cache, program
from yota.arrays import own
from yota.cache import Slot
from yota.errors import TraceError
from yota.frames import user_frames, users_first
from yota.program import MISS, Called, CallRecord, Program, notify, observed
from yota.recording import Recording, function_name, is_boxed_leaf, seed_box
from yota.structs import flatten
from yota.tape import Tape, Var, hand_out
from yota.tracing import Traced, current, sync
from yota.tracing.box import BUSY

RESERVED = ("seed", "argnums", "has_aux", "exact")


class GradResult(Sequence[Any]):
    """The gradients of one call: `g[i]` has the structure of argument i.

    `g.aux` is the auxiliary output, `g.tape` the recorded tape (without values), `g.program` its
    optimised stages and code, built when first asked for.
    """

    __slots__ = ("_gradients", "_program", "_tape", "aux")

    def __init__(
        self,
        gradients: tuple[Any, ...],
        tape: Tape | None,
        aux: Any,
        program: Program | Callable[[], Program] | None = None,
    ) -> None:
        self._gradients, self._tape, self.aux, self._program = gradients, tape, aux, program

    def __getitem__(self, index: Any) -> Any:
        return self._gradients[index]

    def __len__(self) -> int:
        return len(self._gradients)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._gradients)

    def __repr__(self) -> str:
        return f"GradResult({', '.join(map(repr, self._gradients))})"

    def __reduce__(self) -> Any:
        # a copy makes its program anew
        tape = self._tape if self._program is None else self.tape
        return GradResult, (self._gradients, tape, self.aux)

    @property
    def tape(self) -> Tape:
        """The tape of this call, forward and reverse pass, without values."""
        if self._program is not None:
            return self.program.tape
        if self._tape is None:
            raise TraceError(
                "a grad inside a traced function has no tape of its own: "
                "its ops are on the outer one"
            )
        return self._tape

    @property
    def program(self) -> Program:
        """The stages, buffers and code of this call's tape."""
        if not isinstance(self._program, Program):
            self._program = Program(self.tape) if self._program is None else self._program()
        return self._program


def grad(
    f: Callable[..., Any],
    *args: Any,
    seed: Any = None,
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
    exact: bool = False,
    **kwargs: Any,
) -> tuple[Any, GradResult]:
    """Return `f(*args, **kwargs)` and its gradient with respect to every argument.

    `f` returns a real scalar, unless `seed` is given: "ones" or an array of the output's shape.
    `argnums` limits which arguments are differentiated; the others have gradient None, as has what
    is no float.  With `has_aux`, `f` returns (value, aux) and `g.aux` is aux.  For a complex
    argument z = x + iy the gradient is df/dx - i df/dy, as in HIPS autograd and JAX.  With `exact`
    every value is what NumPy's own calls give, to the last bit; by default a few named forms may
    differ by some units in the last place.
    Raises TraceError where a value leaves NumPy's sight, RuleError where no derivative is known.
    """
    slot = None
    if seed is None and argnums is None and not (has_aux or exact or kwargs or BUSY):
        slot = cache.SLOTS.get(id(f.__code__)) if type(f) is FunctionType else None
    elif BUSY and current() is not None:
        return record_nested(f, args, kwargs, seed, argnums, has_aux)
    if slot is None:
        slot = cache.slot_of(f, options_of(argnums, has_aux, seed, kwargs), exact)
    found = slot.answer(f, args, kwargs, seed)
    if found is None:
        return record(slot, f, args, kwargs, seed, argnums, has_aux)
    (value, gradients), program = found
    if BUSY and observed():
        report_hit(program, args, kwargs, seed, value, gradients)
    value, aux = value if has_aux else (value, None)
    return value, GradResult(gradients, None, aux, program)


def options_of(argnums: Any, has_aux: bool, seed: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells one way of calling grad from another."""
    chosen = tuple(argnums) if isinstance(argnums, list) else argnums
    kind = seed if seed is None or isinstance(seed, str) else "array"
    return chosen, has_aux, kind, *kwargs


def record(
    slot: Slot,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seed: Any,
    argnums: Any,
    has_aux: bool,
) -> tuple[Any, GradResult]:
    """Trace `f` and its reverse pass, and put the program into the slot if it may answer again."""
    check_reserved(f)
    if not args and not kwargs:
        check_called_with_arguments(f)
    recording = Recording(f, args, kwargs, as_argnums(argnums, len(args)))
    attempt = cache.Attempt(slot, recording, f, args, kwargs)
    recording.trace.varying = slot.reverses.varying
    y = scalar_output(f, recording.run(f, has_aux), seed)
    known = known_gradients(attempt, recording, y, seed)
    if known is not None:
        value, aux = recording.value(recording.output), recording.value(recording.aux)
        return value, GradResult(known[0], None, aux, known[1])
    guards = len(recording.tape.guards)
    gradients = differentiate(recording, y, seed)
    value = recording.value(recording.output)
    recording.tape.gradients = gradients
    plain = tuple(hand_out(g, recording.trace.values) for g in gradients)
    program = Program(recording.tape)
    attempt.keep(program)
    if program.why_retraced and isinstance(seed, str | None):
        slot.reverses.learn(recording.tape, guards)
    report(recording, value, "grad", program)
    return value, GradResult(plain, None, recording.value(recording.aux), program)


def known_gradients(attempt: cache.Attempt, recording: Recording, y: Any, seed: Any) -> Any:
    """Return gradients by the reverse pass of an earlier call, and how to make the program.

    None where no such pass fits, the function need not be traced again, or somebody observes.
    """
    reverses = attempt.slot.reverses
    if not reverses.known or observed() or not isinstance(seed, str | None):
        return None
    why = attempt.why_not(recording.tape)
    found = reverses.find(recording, y) if why else None
    if found is None:
        return None
    attempt.slot.why = why
    attempt.retraced()
    gradients, reverse = found
    return gradients, partial(reverse.program, recording.tape, why)


def record_nested(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seed: Any,
    argnums: Any,
    has_aux: bool,
) -> tuple[Any, GradResult]:
    """Record a function and its reverse pass on the tape of the trace around it."""
    check_reserved(f)
    recording = Recording(f, args, kwargs, as_argnums(argnums, len(args)))
    y = scalar_output(f, recording.run(f, has_aux), seed)
    gradients = differentiate(recording, y, seed)
    return recording.value(recording.output), GradResult(gradients, None, recording.aux)


def differentiate(recording: Recording, y: Any, seed: Any = None) -> tuple[Any, ...]:
    """Record the reverse pass of one output and return a gradient per argument."""
    first = Var(recording.tape.next_id)
    with recording.trace.under_way(sys._getframe()):
        seeds = [(y, seed_box(recording, y, seed))] if isinstance(y, Traced) else []
        if not recording.nested:
            recording.tape.reverse_start = first
        return hand_back(recording, seeds)


def hand_back(recording: Recording, seeds: list[tuple[Traced, Any]]) -> tuple[Any, ...]:
    """Run the reverse pass and return a gradient per argument; observers hear of an error."""
    try:
        found = recording.backward(seeds)
    except Exception as error:
        recording.report(error)
        raise users_first(error)  # noqa: B904 - the error itself, with fewer frames
    return tuple(recording.hand(k, g) for k, g in enumerate(found))


def scalar_output(f: Callable[..., Any], output: Any, seed: Any) -> Any:
    """Return an output that can be differentiated, else raise TypeError."""
    name = function_name(f)
    several = isinstance(output, tuple | list | dict)
    if several or not isinstance(output, np.ndarray | np.generic | int | float | complex):
        raise TypeError(
            f"{name} returned a {type(output).__name__}; grad needs a number or an array. "
            "Use has_aux=True for (value, aux), yota.vjp for several outputs"
        )
    if seed is None and np.ndim(output) != 0:
        raise TypeError(
            f"{name} returned an array of shape {np.shape(output)}; the gradient of a vector needs "
            'seed=, "ones" or an array of that shape (or use yota.jacobian)'
        )
    if seed is None and np.iscomplexobj(output):
        raise TypeError(f"{name} returned a complex number; return a real one, or give seed=")
    return synced(output)


def synced(output: Any) -> Any:
    """Return an output, brought up to date where it is a box."""
    if isinstance(output, Traced):
        sync(output)
    return output


def check_reserved(f: Callable[..., Any]) -> None:
    """Raise TypeError if a parameter of `f` has a name that grad takes for itself."""
    try:
        names = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return
    for name in RESERVED:
        if name in names:
            raise TypeError(
                f"{function_name(f)} has a parameter named {name!r}, which grad takes for itself: "
                "wrap it in a lambda"
            )


def check_called_with_arguments(f: Callable[..., Any]) -> None:
    """Raise TypeError for `grad(f)` of a function that needs arguments, as other tools write it."""
    try:
        inspect.signature(f).bind()
    except ValueError:
        return
    except TypeError:
        name = function_name(f)
        raise TypeError(
            f"grad({name}, *args) takes the arguments of {name} and returns value and gradients; "
            f"for a function that takes them later use yota.value_and_grad({name})"
        ) from None


def as_argnums(argnums: Any, count: int) -> tuple[int, ...] | None:
    """Return argument numbers as a tuple; raise ValueError for one that is not there."""
    if argnums is None:
        return None
    given = tuple(argnums) if isinstance(argnums, tuple | list) else (argnums,)
    for n in given:
        if not hasattr(n, "__index__") or not -count <= n < count:
            raise ValueError(f"argnums={argnums!r}, but there are {count} positional arguments")
    return tuple(int(n) % count for n in given)


def report(recording: Recording, value: Any, kind: str, program: Program | None = None) -> None:
    """Tell observers of a call."""
    if not observed() or recording.nested:
        return
    tape, values = recording.tape, recording.trace.values
    inputs = tuple(v.copy(order="K") if isinstance(v, np.ndarray) else v for v in recording.inputs)
    gradients = tuple(values[v] for v in tape.gradient_vars)
    call = CallRecord(inputs, value, gradients, recording.site, kind)
    notify(Called(program or Program(tape), call))


def report_hit(
    program: Program,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seed: Any,
    value: Any,
    gradients: tuple[Any, ...],
) -> None:
    """Tell observers of a call that a cached program has answered."""
    leaves = program.tape.entry.leaves(args, kwargs)
    if len(leaves) < len(program.tape.inputs):
        leaves.append(cache.as_seed(program.tape, seed))
    slopes = tuple(flatten(gradients, leaf=is_boxed_leaf)[0])
    site = user_frames()
    call = CallRecord(tuple(map(own, leaves)), value, slopes, site, "grad")
    notify(Called(program, call))


def value_and_grad(
    f: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    exact: bool = False,
) -> Callable[..., Any]:
    """Return a function of the same arguments that returns the value and the gradient.

    The gradient is one for an integer `argnums`, a tuple for a sequence; with `has_aux` the value
    is the pair (value, aux).
    """

    options = options_of(argnums, has_aux, None, {})
    slot = cache.slot_of(f, options, exact)
    taken, whole = taker(argnums)

    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        if not BUSY:
            try:
                cached = slot.first
                result = cached.answer(f, args, kwargs)
                if result is MISS:
                    cached, result = slot.find(f, args, kwargs)
                if result is not MISS:
                    cached.hits += 1
                    return result if cached.count == whole else (result[0], taken(result[1]))
            except Exception:
                # traced anew below, it raises at the user's own line
                pass
        return answer(args, kwargs)

    def answer(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal slot
        if not slot.is_held:
            slot = cache.slot_of(f, options, exact)
        value, g = grad(f, *args, argnums=argnums, has_aux=has_aux, exact=exact, **kwargs)
        return ((value, g.aux) if has_aux else value), pick(g, argnums)

    return value_and_gradient


def taker(argnums: Any) -> tuple[Callable[[Any], Any], int]:
    """Return what `pick` does as a function, and of how many gradients it picks all in order."""
    if not isinstance(argnums, tuple | list):
        return itemgetter(argnums), -1
    numbers = tuple(argnums)
    whole = len(numbers) if numbers == tuple(range(len(numbers))) else -1
    if len(numbers) > 1:
        return itemgetter(*numbers), whole
    return lambda gradients: pick(gradients, numbers), whole


def pick(gradients: Sequence[Any], argnums: Any) -> Any:
    """Return the gradient, or the tuple of gradients, that `argnums` names."""
    if isinstance(argnums, tuple | list):
        return tuple(gradients[n] for n in argnums)
    return gradients[argnums]


def trace(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Tape]:
    """Return `f(*args)` and the tape of its forward pass, with values."""
    recording = Recording(f, args, kwargs)
    must_be_outermost(recording, "trace")
    value = recording.value(recording.run(f))
    recording.tape.values = recording.trace.values
    report(recording, value, "trace")
    return value, recording.tape


def gradtape(f: Callable[..., Any], *args: Any, seed: Any = None, **kwargs: Any) -> Tape:
    """Return the tape of `f` with the reverse pass on it, with values."""
    check_reserved(f)
    recording = Recording(f, args, kwargs)
    must_be_outermost(recording, "gradtape")
    y = scalar_output(f, recording.run(f), seed)
    tape = recording.tape
    tape.gradients = differentiate(recording, y, seed)
    tape.values = recording.trace.values
    report(recording, recording.value(recording.output), "gradtape")
    return tape


def must_be_outermost(recording: Recording, name: str) -> None:
    """Raise TraceError inside a traced function, where there is no tape to hand out."""
    if recording.nested:
        raise TraceError(
            f"yota.{name} inside a traced function has no tape of its own: use yota.grad"
        )


def simplegrad(f: Callable[..., Any], *example_args: Any) -> Callable[..., Any]:
    """Return a plain function `(val, *grads)` of arguments like these: NumPy only, nothing cached.

    What Python branched on is checked at each call; other arguments than the example's raise
    ValueError.
    """
    return program.standalone(gradtape(f, *example_args))
