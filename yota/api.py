"""What users call: grad and its siblings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from yota import program
from yota.errors import TraceError
from yota.program import Called, CallRecord, Program, notify, observed
from yota.recording import Recording, function_name, is_boxed_leaf, seed_box
from yota.structs import flatten, pick_leaves, unflatten
from yota.tape import Tape, Var, hand_out, spec_of
from yota.tracing import Traced, sync

RESERVED = ("seed", "argnums", "has_aux", "exact")


class GradResult(Sequence[Any]):
    """The gradients of one call: `g[i]` has the structure of argument i.

    `g.aux` is the auxiliary output, `g.tape` the recorded tape (without values), `g.program` its
    optimised stages and code, built when first asked for.
    """

    def __init__(self, gradients: tuple[Any, ...], tape: Tape | None, aux: Any) -> None:
        self._gradients, self._tape, self.aux = gradients, tape, aux
        self._program: Program | None = None

    def __getitem__(self, index: Any) -> Any:
        return self._gradients[index]

    def __len__(self) -> int:
        return len(self._gradients)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._gradients)

    def __repr__(self) -> str:
        return f"GradResult({', '.join(map(repr, self._gradients))})"

    @property
    def tape(self) -> Tape:
        """The tape of this call, forward and reverse pass, without values."""
        if self._tape is None:
            raise TraceError(
                "a grad inside a traced function has no tape of its own: "
                "its ops are on the outer one"
            )
        return self._tape

    @property
    def program(self) -> Program:
        """The stages, buffers and code of this call's tape."""
        if self._program is None:
            self._program = Program(self.tape)
        return self._program


def grad(
    f: Callable[..., Any],
    *args: Any,
    seed: Any = None,
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
    **kwargs: Any,
) -> tuple[Any, GradResult]:
    """Return `f(*args, **kwargs)` and its gradient with respect to every argument.

    `f` returns a real scalar, unless `seed` is given: "ones" or an array of the output's shape.
    `argnums` limits which arguments are differentiated; the others have gradient None, as has what
    is no float.  With `has_aux`, `f` returns (value, aux) and `g.aux` is aux.  For a complex
    argument z = x + iy the gradient is df/dx - i df/dy, as in HIPS autograd and JAX.
    Raises TraceError where a value leaves NumPy's sight, RuleError where no derivative is known.
    """
    check_reserved(f)
    if not args and not kwargs:
        check_called_with_arguments(f)
    recording = Recording(f, args, kwargs, as_argnums(argnums, len(args)))
    y = scalar_output(f, recording.run(f, has_aux), seed)
    gradients = differentiate(recording, y, seed)
    value = recording.value(recording.output)
    if recording.nested:
        return value, GradResult(gradients, None, recording.aux)
    recording.tape.gradients = gradients
    plain = tuple(hand_out(g, recording.trace.values) for g in gradients)
    report(recording, value, "grad")
    return value, GradResult(plain, recording.tape, recording.value(recording.aux))


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
        raise
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


def report(recording: Recording, value: Any, kind: str) -> None:
    """Tell observers of a call."""
    if not observed() or recording.nested:
        return
    tape, values = recording.tape, recording.trace.values
    inputs = tuple(v.copy(order="K") if isinstance(v, np.ndarray) else v for v in recording.inputs)
    gradients = tuple(values[v] for v in tape.gradient_vars)
    notify(Called(Program(tape), CallRecord(inputs, value, gradients, recording.site, kind)))


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the same arguments that returns the value and the gradient.

    The gradient is one for an integer `argnums`, a tuple for a sequence; with `has_aux` the value
    is the pair (value, aux).
    """

    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        value, g = grad(f, *args, argnums=argnums, has_aux=has_aux, **kwargs)
        return ((value, g.aux) if has_aux else value), pick(g, argnums)

    return value_and_gradient


def pick(gradients: Sequence[Any], argnums: Any) -> Any:
    """Return the gradient, or the tuple of gradients, that `argnums` names."""
    if isinstance(argnums, tuple | list):
        return tuple(gradients[n] for n in argnums)
    return gradients[argnums]


def vjp(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return `f(*args)` and its pullback: from a cotangent of the output to one per argument.

    The output may be any structure; the pullback takes one of the same structure and may be called
    any number of times.
    """
    recording = Recording(f, args, kwargs)
    output = recording.run(f)
    value = recording.value(output)
    report(recording, value, "vjp")

    def pullback(dy: Any) -> tuple[Any, ...]:
        """Return the cotangent of each argument."""
        here = recording if recording.nested else recording.fork()
        with here.trace.under_way(sys._getframe()):
            gradients = hand_back(here, pair_seeds(here, output, dy))
        return (
            gradients if here.nested else tuple(hand_out(g, here.trace.values) for g in gradients)
        )

    return value, pullback


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


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Jacobian of `f`: the output's axes, then the leaf's.

    Structures nest: at each array of the output stands the structure of the argument.
    """

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        as_argnums(argnums, len(args))
        y, pullback = vjp(f, *args, **kwargs)
        outputs, structure = flatten(y, leaf=is_boxed_leaf)

        def block(k: int) -> Any:
            def row(unit: Any) -> Any:
                seeds = [unit if n == k else None for n in range(len(outputs))]
                return pick(pullback(unflatten(structure, seeds)), argnums)

            return stack_rows(row, outputs[k])

        return unflatten(structure, [block(k) for k in range(len(outputs))])

    return jacobian_of


def stack_rows(row: Callable[[Any], Any], y: Any) -> Any:
    """Return one block of a Jacobian: `row` of each unit cotangent of `y`, stacked leaf by leaf.

    Of a complex output z the real argument x gets dz/dx, and a complex one too where z is
    holomorphic; elsewhere there is no such number: TypeError.
    """
    shape, spec = np.shape(y), spec_of(y._value if isinstance(y, Traced) else y)
    units = np.eye(int(np.prod(shape, dtype=int)), dtype=spec.dtype)
    if not len(units):
        first = row(np.zeros(shape, spec.dtype))
        leaves, structure = flatten(first, leaf=is_boxed_leaf)
        return unflatten(structure, [np.zeros(shape + np.shape(v), v.dtype) for v in leaves])
    found = [flatten(row(u.reshape(shape)), leaf=is_boxed_leaf) for u in units]
    columns = list(zip(*(leaves for leaves, _ in found), strict=True))
    if spec.dtype.kind == "c":
        turned = [flatten(row(1j * u.reshape(shape)), leaf=is_boxed_leaf)[0] for u in units]
        other = zip(*turned, strict=True)
        columns = [tuple(map(complex_row, c, d)) for c, d in zip(columns, other, strict=True)]
    leaves = [np.reshape(np.stack(c), shape + np.shape(c[0])) for c in columns]
    return unflatten(found[0][1], leaves)


def complex_row(plain: Any, turned: Any) -> Any:
    """Return dz/dx from the pullbacks of 1 and of i."""
    if not np.iscomplexobj(plain):
        return plain - 1j * turned
    if not np.allclose(turned, 1j * plain, equal_nan=True):
        raise TypeError(
            "the function is not holomorphic: a complex output has no complex derivative there; "
            "differentiate its real and its imaginary part with respect to real arguments"
        )
    return plain


def hessian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Hessian of a scalar `f`; for a tuple of argnums blocks."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        return value_and_grad(f, argnums)(*args, **kwargs)[1]

    if not isinstance(argnums, tuple | list):
        return jacobian(gradient, argnums)

    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        def row(n: int) -> Any:
            return jacobian(lambda *a, **k: value_and_grad(f, n)(*a, **k)[1], argnums)

        return tuple(row(n)(*args, **kwargs) for n in argnums)

    return hessian_of


def hvp(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function of the arguments and a direction `v` that returns Hessian times v.

    `hvp(f)(x, v)`: v has the structure of the argument that `argnums` names; a tuple for a tuple.
    """

    def product(*args_v: Any, **kwargs: Any) -> Any:
        *args, v = args_v

        def slope(*a: Any, **k: Any) -> Any:
            return inner(value_and_grad(f, argnums)(*a, **k)[1], v)

        return value_and_grad(slope, argnums)(*args, **kwargs)[1]

    return product


def inner(g: Any, v: Any) -> Any:
    """Return the sum of the products of all leaves of two equal structures."""
    directions, _ = flatten(v, leaf=is_boxed_leaf)
    slopes, _ = flatten(g, leaf=is_boxed_leaf)
    if [np.shape(d) for d in directions] != [np.shape(s) for s in slopes]:
        raise ValueError("hvp: the direction must have the structure and shapes of the argument")
    return sum(np.sum(s * d) for s, d in zip(slopes, directions, strict=True))


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
