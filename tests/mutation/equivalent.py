"""Mutants that no test can tell from the rule, each with the reason why."""

from __future__ import annotations

import re

# By reason: the function, and what was changed in it.
EQUIVALENT: dict[str, tuple[str, ...]] = {
    "the default costs nothing, and dividing by 1 or subtracting 0 changes nothing": (
        "continuous.over: x if type(scale) is int and scale == 1 else x / scale -> x / scale",
        "continuous.less: x if type(loc) is int and loc == 0 else x - loc -> x - loc",
        "reduce.prod_vjp: dx if type(initial) is int and initial == 1 else dx * initial"
        " -> dx * initial",
        "reduce.prod_vjp: type(initial) is int -> type(initial) is not int",
        "signal.in_full: dy if mode == 'full' else np.pad(dy, pads) -> np.pad(dy, pads)",
    ),
    "a cast of what is complex already keeps its value": (
        "elementwise.as_computed: x if is_complex(x) or np.dtype(dtype).kind != 'c' else"
        " cast(x, dtype) -> cast(x, dtype)",
    ),
    "the mean runs over the whole circle": (
        "elementwise.bessel_i1: np.cos((np.arange(64) + 0.5) * (math.pi / 128)) ->"
        " np.sin((np.arange(64) + 0.5) * (math.pi / 128))",
    ),
    "the operator gives the function's numbers, and raises only for Python's": (
        "elementwise.power_base_vjp: base ** (p - 1) if np.ndim(base) else"
        " np.power(base, float(p - 1)) -> np.power(base, float(p - 1))",
    ),
    "NumPy orders complex numbers by their real parts": (
        "elementwise.power_exponent_vjp: np.real(p) if is_complex(p) else p -> p",
    ),
    "dividing by 1, -1 or ones is multiplying by it": (
        "elementwise.<lambda>: np.sign(a) * np.copysign(1.0, b) ->"
        " np.sign(a) / np.copysign(1.0, b)",
        "elementary.huber_slope: delta * np.sign(r) -> delta / np.sign(r)",
        "errors.tail: s * sign -> s / sign",
        "spacing._gaps: step * np.ones(n - 1) -> step / np.ones(n - 1)",
        "spacing._widths: dx * np.ones(np.shape(_means(values, axis))) ->"
        " dx / np.ones(np.shape(_means(values, axis)))",
    ),
    "either formula holds about where they meet": (
        "elliptic.two_cubes: CLOSE * np.absolute(x + z) -> CLOSE",
        "elliptic.two_cubes: CLOSE * np.absolute(x + z) -> CLOSE / np.absolute(x + z)",
        "elliptic.two_cubes: np.absolute(x + z) -> x + z",
        "elliptic.two_cubes: x + z -> x",
        "elliptic.two_cubes: x + z -> z",
        "errors.spence_slope: np.absolute(x - 1) -> x - 1",
    ),
    "the other side is chosen there, and nothing overflows on this one": (
        "continuous.t_shape_slope: np.where(many, 1, df) -> df",
        "continuous.t_shape_slope: np.where(many, df, 40) -> df",
        "elliptic.two_cubes: np.where(close, y, 1) -> y",
        "elliptic.two_cubes: np.where(close, (x + z) * 0.5, 1) -> (x + z) * 0.5",
        "elliptic.two_cubes: np.where(close, (x - z) * 0.5, 0) -> (x - z) * 0.5",
        "errors.expn_slope: np.where(first, 0, n - 1) -> n - 1",
        "gammas.rgamma_slope: np.where(left, x, 0) -> x",
        "bessels.rest_over_x: np.where(near, x, 0) -> x",
        "continuous.t_shape_slope: np.where(small, u, 0) -> u",
        "continuous.t_shape_slope: np.where(small, 1, u) -> u",
        "elementwise.sinc_slope: np.where(near, x, 0) -> x",
        "errors.mills: np.where(left, x, 0) -> x",
        "errors.spence_slope: np.where(near, x, 1) -> x",
        "gammas.rgamma_slope: np.where(left, 1, x) -> x",
    ),
    "a direction is scaled for precision alone, by any number": (
        "functions.along: np.max(np.absolute(e)) -> np.min(np.absolute(e))",
        "functions.along: np.absolute(e) -> e",
        "functions.along: np.where(np.equal(size, 0), 1, size) -> 1",
    ),
    "SciPy takes whole numbers of successes: of others it warns": (
        "gammas.<lambda>: np.floor(k) -> np.ceil(k)",
        "gammas.binomial_density: np.floor(k) -> np.ceil(k)",
    ),
    "it is squared": (
        "gammas.noncentral_density: np.sqrt(x) - np.sqrt(c) -> np.sqrt(c) - np.sqrt(x)",
    ),
    "a list of numbers is an index as an array is": (
        "index.take_vjp: indices if hasattr(indices, 'dtype') else np.asarray(indices) -> indices",
        "index.take_vjp: indices if hasattr(indices, 'dtype') else np.asarray(indices) ->"
        " np.asarray(indices)",
    ),
    "the newest NumPy has no other name for the method": (
        "quantiles.as_method: method if interpolation is None else interpolation -> method",
    ),
    "numbers that may stand there are left as they are": (
        "select.choose_vjp: np.clip(a, 0, n - 1) if mode == 'clip' else a -> np.clip(a, 0, n - 1)",
        "fft.chosen_axes: k % ndim -> k",
    ),
    "the newest NumPy sorts labels alike, whether it optimizes or not": (
        "special.as_string: string.ascii_letters if optimize and (not AS_OPTIMIZED) else LETTERS"
        " -> LETTERS",
    ),
    "it takes more memory for the same order of elements": (
        "index.zeros_in_layout: s // unit -> s",
        "index.zeros_in_layout: n - 1 -> n + 1",
        "index.zeros_in_layout: n - 1 -> n",
        "index.zeros_in_layout: (high - low) // 8 -> high - low",
    ),
    "axes of length one in front are summed away, however many": (
        "index._without_lead: ndim - np.ndim(read) -> ndim + np.ndim(read)",
        "index._without_lead: ndim - np.ndim(read) -> ndim",
        "index._without_lead: np.reshape(read, (1,) * lead + np.shape(read)) if lead > 0 else read"
        " -> np.reshape(read, (1,) * lead + np.shape(read))",
    ),
    "it is the dearer way to the same": (
        "index.may_repeat: index if type(index) is tuple else (index,) -> (index,)",
        "index._is_distinct: kind in ('i', 'u') -> kind not in ('i', 'u')",
        "index.put_back: scatter(dy, index, shape) if may_repeat(index) else"
        " place(dy, index, shape) -> scatter(dy, index, shape)",
        "products.matmul_left_vjp: dy * b if np.ndim(a) == 1 else column(dy) * b -> column(dy) * b",
        "products.dot_left_vjp: np.ndim(a) <= 2 -> np.ndim(a) >= 2",
        "products.dot_right_vjp: np.ndim(a) <= 2 -> np.ndim(a) >= 2",
        "quantiles.equal_share: np.sum(dx, axis=tuple(range(lead))) if lead else dx ->"
        " np.sum(dx, axis=tuple(range(lead)))",
        "reduce.in_dtype_of: initial if np.result_type(initial) == dtype else cast(initial, dtype)"
        " -> cast(initial, dtype)",
        "special.operand_cotangent: dx if np.shape(dx) == lengths else"
        " np.broadcast_to(dx, lengths) -> np.broadcast_to(dx, lengths)",
        "select.select_vjp: free is True -> free is not True",
        "special.operand_cotangent: np.expand_dims(dx, missing) if missing else dx ->"
        " np.expand_dims(dx, missing)",
        "special.operand_cotangent: dx if unique == mine else on_diagonal(dx, unique, mine, shape)"
        " -> on_diagonal(dx, unique, mine, shape)",
        "special.operand_cotangent: {'optimize': True} if optimize else {} -> {'optimize': True}",
        "special.operand_cotangent: {'optimize': True} if optimize else {} -> {}",
        "polynomials.polyint_vjp: dy[:n] * np.polyint(np.ones(n), m)[:n] if m else dy ->"
        " dy[:n] * np.polyint(np.ones(n), m)[:n]",
    ),
    "the size of a difference has no sign": (
        "elliptic.two_cubes: x - z -> z - x",
        "errors.spence_slope: x - 1 -> 1 - x",
        "spectra.eigvals_vjp: column(w) - row(y) -> row(y) - column(w)",
        "spectra.equal_to_rounding: row(w) - column(w) -> column(w) - row(w)",
    ),
    "one number a matrix is a row as well as a column": (
        "spectra.equal_to_rounding: row(limit) -> column(limit)",
    ),
    "what is taken for rounding may be a little more or less": (
        "spectra.equal_to_rounding: 4 * np.shape(w)[-1] -> np.shape(w)[-1]",
        "spectra.over_values: np.max(s, axis=-1, keepdims=True, initial=0) ->"
        " np.min(s, axis=-1, keepdims=True, initial=0)",
        "spectra.over_values: 4 * max(np.shape(g)[-2:]) * np.finfo(real_dtype(s)).eps * size ->"
        " 4 * max(np.shape(g)[-2:]) * np.finfo(real_dtype(s)).eps",
        "spectra.refuse_phase: np.sqrt(np.finfo(real_dtype(total)).eps) *"
        " np.expand_dims(size, -1) -> np.sqrt(np.finfo(real_dtype(total)).eps)",
        "statistics.joined: np.size(y) ** 0.5 + 0.5 -> np.size(y) ** 0.5",
        "spectra.over_values: 4 * max(np.shape(g)[-2:]) * np.finfo(real_dtype(s)).eps ->"
        " np.finfo(real_dtype(s)).eps",
        "spectra.over_values: 4 * max(np.shape(g)[-2:]) -> 4 / max(np.shape(g)[-2:])",
        "spectra.over_values: 4 * max(np.shape(g)[-2:]) -> max(np.shape(g)[-2:])",
        "spectra.over_values: max(np.shape(g)[-2:]) -> min(np.shape(g)[-2:])",
        "spectra.refuse_phase: np.sqrt(np.finfo(real_dtype(total)).eps) ->"
        " np.finfo(real_dtype(total)).eps",
    ),
    "no turns times a finite slope are 0, as is what was not refused": (
        "elliptic.whole_turns: np.where(none, 0, 2 * turns * slope(np.where(none, 1, n))) ->"
        " 2 * turns * slope(np.where(none, 1, n))",
        "spectra.over_values: np.where(none, 0, g / np.where(none, 1, s)) ->"
        " g / np.where(none, 1, s)",
    ),
    "a number of bins is never asked for its slope": (
        "statistics.edges_vjp.pulled: dy if is_given else None -> dy",
    ),
    "it broadcasts to the same": (
        "multivariate.dirichlet_terms: np.reshape(dy, rest) -> dy",
        "padding.<lambda>: np.broadcast_to(g / np.shape(x)[-1], np.shape(x)) ->"
        " g / np.shape(x)[-1]",
        "reduce.aligned_weights: np.broadcast_to(np.reshape(w, shape), np.shape(a)) ->"
        " np.reshape(w, shape)",
    ),
    "sine and cosine repeat": ("elliptic.reduced: phi - turns * math.pi -> phi + turns * math.pi",),
    "outside SciPy's own value is NaN": (
        "bessels.airye_vjp: np.where(np.greater(z, 0), z, 0) -> z",
        "series.legendre_slope: np.absolute(x) -> x",
    ),
    "of components of one size any may be the real one": (
        "spectra._with_real_pivot: np.cumsum(largest, axis=-2) -> largest",
    ),
    "it is folded with its conjugate transpose": ("spectra.cholesky_vjp: h(middle) -> middle",),
    "the rest is 0": ("spectra.diagonal_matrix: column(d) -> row(d)",),
    "both are polynomials of one matrix": ("polynomials.poly_vjp: x @ rest -> rest @ x",),
    "the only point gets both shares": ("spacing._to_part: 0.0 -> 1.0",),
    "the slope is 0 everywhere": (
        "table.yota.scipy.stats.uniform_logpdf: twice the answer, argument 0",
        "table.yota.scipy.stats.uniform_pdf: twice the answer, argument 0",
        "table.yota.scipy.stats.uniform_pdf: twice the answer, argument 1",
        "table.yota.scipy.stats.uniform_logpdf: twice the answer, argument 1",
    ),
    "of a real operand the engine takes the real part itself": (
        "table.interp: the real part of the answer, argument 0",
        "table.interp: the conjugate of the answer, argument 0",
        "table.interp: the real part of the answer, argument 1",
        "table.interp: the conjugate of the answer, argument 1",
        "table.kelvin: the real part of the answer, argument 0",
        "table.kelvin: the conjugate of the answer, argument 0",
    ),
}
_NAMES = {name: why for why, names in EQUIVALENT.items() for name in names}
_AT = re.compile(r" \(line \d+, column \d+\)")


def reason_for(name: str) -> str | None:
    """Return why a mutant changes nothing, None where it should."""
    return _NAMES.get(bare_name(name))


def bare_name(name: str) -> str:
    """Return a mutant's name without where it stands."""
    return _AT.sub("", name, count=1)
