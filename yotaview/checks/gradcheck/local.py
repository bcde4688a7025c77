"""One rule on the recorded values: the numerical derivative of the op against what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from yota.rules.functional import cast
from yota.tape import Call, Tape, Var, map_vars
from yotaview.checks.gradcheck.slopes import Slope, slope_along, slope_of_sum
from yotaview.model.autopsy.masks import is_pointwise
from yotaview.model.replay import quiet
from yotaview.model.summary import numeric

Array = np.ndarray[Any, Any]
Status = Literal["ok", "off", "unchecked"]
ELEMENTWISE = {np.where, np.real, np.imag, np.conjugate, np.angle, np.sinc, np.i0, cast}
# relative to the element, and to the largest of the array, by the bytes of a real number
TOLERANCE = {2: (5e-2, 2e-2), 4: (2e-3, 1e-4), 8: (1e-6, 1e-9), 16: (1e-6, 1e-9)}
PROBED = 64
MANY, SAMPLED = 16_384, 4_096
DIRECTIONS = 2
TINY = 1e-300
NOT_FINITE = "a value is NaN or infinite"
UNSTABLE = "no stable difference here: a kink, a tie or a jump"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one rule: `of` is the op, `wrt` the operand whose contribution it is.

    `element` is the worst one, with the recorded and the numerical derivative there; `terms` are
    the ops that hold the contribution.  `elements` were compared, of `size` where only some were.
    """

    of: Var
    wrt: Var
    status: Status
    reason: str = ""
    element: tuple[int, ...] = ()
    recorded: Any = None
    numerical: Any = None
    error: float = 0.0
    elements: int = 0
    terms: tuple[Var, ...] = ()
    size: int = 0


class Unchecked(Exception):
    """A rule cannot be checked here; the text says why."""


class Local:
    """One op as a function of one operand, the others keeping their recorded values."""

    def __init__(
        self,
        values: Mapping[Var, Any],
        of: Var,
        op: Call,
        wrt: Var,
        cotangents: Mapping[int | None, Any],
        recorded: Any,
    ) -> None:
        self.values, self.of, self.op, self.wrt = values, of, op, wrt
        self.dy = {k: _array(v) for k, v in cotangents.items()}
        self.x = _array(values[wrt])
        self.recorded = np.broadcast_to(_array(recorded), self.x.shape)
        self.python = not isinstance(values[wrt], np.ndarray | np.generic)
        self.narrow = min(map(_bytes, (values[wrt], recorded, *cotangents.values())))

    def f(self, x: Any) -> Any:
        """Run the op in double precision."""
        given = _number(x) if self.python else x

        def at(v: Var) -> Any:
            return given if v == self.wrt else _wide(self.values[v])

        args = map_vars(self.op.args, at)
        return self.op.fn(*args, **{k: map_vars(v, at) for k, v in self.op.kwargs})

    def check(self) -> Verdict:
        """Return the verdict; raises Unchecked with the reason why there is none."""
        if not self.x.size:
            raise Unchecked("an operand is empty")
        with quiet():
            if self.pointwise:
                return self.sample() if self.x.size > MANY else self.by_element()
            if not np.isfinite(self.total(self.x)) or not np.any(self.known):
                raise Unchecked(NOT_FINITE)
            return self.by_direction()

    def sample(self) -> Verdict:
        """Compare some of many elements, of an op that does not broadcast its operand."""
        shape = self.x.shape
        if shape != self.dy[None].shape:
            return self.by_element()
        rng = np.random.default_rng(self.of.id)
        places = np.sort(rng.choice(self.x.size, SAMPLED, replace=False))

        def taken(value: Any) -> Any:
            return np.broadcast_to(value, shape).reshape(-1)[places] if np.ndim(value) else value

        values = {v: taken(self.values[v]) for v in self.op.operands}
        dy: dict[int | None, Any] = {None: taken(self.dy[None])}
        some = Local(values, self.of, self.op, self.wrt, dy, taken(self.recorded))
        some.narrow = self.narrow
        found = some.by_element()
        at = found.element and np.unravel_index(int(places[found.element[0]]), shape)
        return replace(found, element=tuple(int(k) for k in at), size=self.x.size)

    @property
    def known(self) -> Array:
        """Where operand and recorded derivative are finite."""
        found: Array = np.isfinite(self.x) & np.isfinite(self.recorded)
        return found

    @property
    def pointwise(self) -> bool:
        """Tell whether every element of the value is made of one element of the operand."""
        shape = self.dy[None].shape if None in self.dy else None
        if shape is None or dict(self.op.kwargs).keys() & {"where", "out"}:
            return False
        return (is_pointwise(self.op) or self.op.fn in ELEMENTWISE) and _fits(self.x.shape, shape)

    def by_element(self) -> Verdict:
        """Compare every element; one at a kink is left out."""
        found, error, left = self.part(1.0)
        if self.x.dtype.kind == "c":
            other, more, also = self.part(1j)
            found, error, left = found - 1j * other, error + more, left | also
        terms = _sum_to(np.abs(found), self.x.shape)
        found, error = _sum_to(found, self.x.shape), _sum_to(error, self.x.shape)
        left = _sum_to(left * 1.0, self.x.shape) > 0
        return self.verdict(found, error, left, terms)

    def part(self, unit: complex) -> tuple[Array, Array, Array]:
        """Return the pulled-back slope along a unit, its error, and what cannot be had."""
        dy = self.dy[None]
        direction = np.full_like(self.x, unit, np.result_type(self.x.dtype, type(unit)))
        slope = slope_along(self.f, self.x, direction)
        if not np.any(np.isfinite(dy)) or not np.any(np.isfinite(self.x)):
            raise Unchecked(NOT_FINITE)
        dead = dy == 0
        value = np.where(dead, 0.0, np.real(dy * slope.value))
        error = np.where(dead, 0.0, np.abs(dy) * slope.error)
        left = ~dead & (slope.kink | ~np.isfinite(value) | ~np.isfinite(error))
        left |= ~np.isfinite(self.x)
        return np.where(left, 0.0, value), np.where(left, 0.0, error), left

    def verdict(
        self, found: Array, error: Array, left: Array, terms: Array | float = 0.0
    ) -> Verdict:
        """Judge elements by their numerical derivative and its error.

        `terms` is the sum of the sizes of what an element is the sum of, which may cancel.
        """
        relative, absolute = TOLERANCE[self.narrow]
        got = self.recorded
        left = left | ~np.isfinite(got)
        largest = float(np.max(np.abs(got[~left]), initial=0.0))
        scale = np.maximum(np.abs(found), np.abs(got))
        gap = np.where(left, 0.0, np.abs(found - np.where(left, 0.0, got)))
        allowed = relative * scale + absolute * largest + 5 * error
        vague = error > 1e-2 * scale + absolute * largest
        off = (gap > allowed) & ~left & ~vague
        left = left | (vague & (gap > allowed))
        if not off.any():
            if left.all():
                raise Unchecked(UNSTABLE if np.all(np.isfinite(got)) else NOT_FINITE)
            against = np.maximum(np.maximum(scale, terms), max(1e-3 * largest, TINY))
            worst = float(np.max(gap / against, where=~left, initial=0.0))
            return Verdict(self.of, self.wrt, "ok", error=worst, elements=int((~left).sum()))
        at = np.unravel_index(int(np.argmax(np.where(off, gap, -1.0))), off.shape)
        element = tuple(int(k) for k in at)
        return Verdict(
            self.of, self.wrt, "off", "", element, got[element], found[element],
            float(gap[element] / scale[element]), int((~left).sum()),
        )  # fmt: skip

    def total(self, x: Any) -> float:
        """Return the op's value, weighted by the cotangent."""
        y = self.f(x)
        parts = (
            np.sum(np.real(dy * np.asarray(y if k is None else y[k]))) for k, dy in self.dy.items()
        )
        return float(sum(parts))

    def by_direction(self) -> Verdict:
        """Compare along random directions; where they differ, look for the element."""
        rng = np.random.default_rng(self.of.id)
        if self.x.size <= DIRECTIONS:
            return self.located(rng)
        worst, stable = 0.0, False
        for _ in range(DIRECTIONS):
            r = self.direction(rng)
            slope = slope_of_sum(self.total, self.x, r)
            terms = self.along(r)
            gap = abs(float(slope.value) - float(np.sum(terms)))
            scale = float(np.sqrt(np.sum(np.square(terms)))) or abs(float(slope.value))
            nothing = not terms.any() and gap <= 5 * float(slope.error)
            if slope.kink or not (nothing or slope.error <= 1e-3 * scale + 1e-12):
                continue
            stable = True
            relative, _ = TOLERANCE[self.narrow]
            if gap > relative * scale + 5 * float(slope.error):
                return self.located(rng)
            worst = max(worst, gap / scale if scale else 0.0)
        if not stable:
            raise Unchecked(UNSTABLE)
        return Verdict(self.of, self.wrt, "ok", error=worst, elements=self.x.size)

    def direction(self, rng: np.random.Generator) -> Array:
        """Return a random direction of about the size of the operand."""
        r = np.asarray(rng.standard_normal(self.x.shape))
        if self.x.dtype.kind == "c":
            r = r + 1j * rng.standard_normal(self.x.shape)
        size = np.where(self.known, np.abs(self.x), 0.0)
        typical = float(np.sqrt(np.mean(size**2))) or 1.0
        found = self.like(r.dtype)
        found[...] = np.where(self.known, r * (size + 0.1 * typical), 0.0)
        return found

    def like(self, dtype: Any) -> Array:
        """Return zeros in the memory layout of the operand, which an op may look at."""
        return np.zeros_like(self.x, dtype=dtype)

    def along(self, r: Array) -> Array:
        """Return the terms whose sum is the recorded derivative along a direction."""
        return np.real(np.where(r == 0, 0.0, self.recorded) * r)

    def located(self, rng: np.random.Generator) -> Verdict:
        """Look for the worst element, by halves where there are many."""
        places = np.flatnonzero(self.known)
        while places.size > PROBED:
            half = places.size // 2
            first, second = places[:half], places[half:]
            places = first if self.gap_on(first, rng) >= self.gap_on(second, rng) else second
        verdict = self.probed(places)
        if verdict.status == "off" and not self.is_linear(rng):
            raise Unchecked(UNSTABLE)
        return verdict

    def is_linear(self, rng: np.random.Generator) -> bool:
        """Tell whether derivatives along directions add up, which they do not where all tie."""
        for _ in range(DIRECTIONS):
            one, other = self.direction(rng), self.direction(rng)
            slopes = [slope_of_sum(self.total, self.x, r) for r in (one, other, one + other)]
            first, second, both = (float(s.value) for s in slopes)
            error = sum(float(s.error) for s in slopes)
            allowed = 1e-4 * (abs(first) + abs(second) + abs(both)) + 5 * error
            if not abs(first + second - both) <= allowed:
                return False
        return True

    def gap_on(self, places: Array, rng: np.random.Generator) -> float:
        """Return how far recorded and numerical derivative are apart on some elements."""
        whole = self.direction(rng)
        r = self.like(whole.dtype)
        r.flat[places] = whole.flat[places]
        slope = slope_of_sum(self.total, self.x, r)
        gap = abs(float(slope.value) - float(np.sum(self.along(r))))
        return gap if np.isfinite(gap) else 0.0

    def probed(self, places: Array) -> Verdict:
        """Compare some elements one by one."""
        found = np.array(self.recorded, dtype=np.result_type(self.recorded, float))
        error, left = np.zeros(self.x.shape), np.ones(self.x.shape, bool)
        for k in places:
            at = np.unravel_index(int(k), self.x.shape)
            slopes = [self.slope_at(at, unit) for unit in self.units]
            left[at] = any(bool(s.kink) or not np.isfinite(s.error) for s in slopes)
            value = slopes[0].value if len(slopes) == 1 else slopes[0].value - 1j * slopes[1].value
            found[at] = 0.0 if left[at] else value
            error[at] = 0.0 if left[at] else sum(float(s.error) for s in slopes)
        return self.verdict(found, error, left)

    @property
    def units(self) -> tuple[complex, ...]:
        """The directions of one element."""
        return (1.0, 1j) if self.x.dtype.kind == "c" else (1.0,)

    def slope_at(self, at: tuple[Any, ...], unit: complex) -> Slope:
        """Return the derivative by one element."""
        r = self.like(np.result_type(self.x.dtype, type(unit)))
        largest = float(np.max(np.abs(self.x), where=self.known, initial=0.0))
        size = max(float(abs(self.x[at])), 0.1 * largest, 1e-8)
        r[at] = unit * size
        slope = slope_of_sum(self.total, self.x, r)
        return Slope(slope.value / size, slope.error / size, slope.kink)


def check_local(
    tape: Tape,
    values: Mapping[Var, Any],
    of: Var,
    wrt: Var,
    cotangents: Mapping[int | None, Var],
    terms: Sequence[Var],
) -> Verdict:
    """Check the rule of op `of` for one operand; an error of the op itself is a reason."""
    op = tape[of]
    assert isinstance(op, Call)
    try:
        dy = {k: values[v] for k, v in cotangents.items()}
        recorded = sum((_array(values[t]) for t in terms), start=np.zeros(()))
        return Local(values, of, op, wrt, dy, recorded).check()
    except Unchecked as reason:
        return Verdict(of, wrt, "unchecked", str(reason))
    except Exception as error:  # the op may refuse what lies beside its operand
        return Verdict(of, wrt, "unchecked", f"{type(error).__name__}: {error}")


def _array(value: Any) -> Array:
    x = numeric(value)
    if x is None:
        raise Unchecked("a value is no number")
    if x.dtype.kind in "fc" and x.dtype != np.longdouble and x.dtype != np.clongdouble:
        return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)
    return x


def _wide(value: Any) -> Any:
    """Return a value of less than double precision in double precision, others as they are."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "fc":
        return value
    if value.dtype.itemsize >= (16 if value.dtype.kind == "c" else 8):
        return value
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def _number(x: Any) -> Any:
    return np.asarray(x)[()].item()


def _bytes(value: Any) -> int:
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc":
        return 8
    size = x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1)
    return size if size in TOLERANCE else 16


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def _sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    """Sum over what broadcasting repeated."""
    lead = x.ndim - len(shape)
    axes = [
        *range(lead),
        *(k + lead for k, n in enumerate(shape) if n == 1 and x.shape[k + lead] != 1),
    ]
    return np.sum(x, axis=tuple(axes)).reshape(shape) if axes else x


__all__ = ["Local", "Status", "Unchecked", "Verdict", "check_local"]
