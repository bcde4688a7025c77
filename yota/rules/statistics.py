"""Rules of covariances and histograms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.index import along
from yota.rules.reduce import extreme_vjp
from yota.rules.registry import composed, conj, defvjp, primitive, refuse_real, takes_list, zero

Array = Any


# Covariances.


def observations(m: Array, rowvar: bool, rows: int | None = None) -> tuple[Array, bool]:
    """Return data as one row a variable, and whether that turned it round.

    `rows` is how many variables there are, where the result tells it: versions of NumPy differ on
    what a matrix of one row is with rowvar=False.
    """
    if np.ndim(m) < 2:
        return np.reshape(m, (1, -1)), False
    turns = not rowvar and (np.shape(m)[0] != 1 if rows is None else np.shape(m)[1] == rows)
    return (np.transpose(m) if turns else m), turns


def cov_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of a covariance for one of its two data sets (0, 1) or its weights (6)."""

    def pulled(
        dy: Array, y: Array, m: Array, other: Any = None, rowvar: bool = True, bias: bool = False,
        ddof: int | None = None, fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
    ) -> Array:  # fmt: skip
        refuse_real("np.cov", dtype, m, other)
        if not np.size(y):
            return np.zeros_like(m if position == 0 else other if position == 1 else aweights)
        data, turns = joined(m, other, rowvar, y)
        ddof = (0 if bias else 1) if ddof is None else ddof
        w, factor, d_factor = weights_of(fweights, aweights, ddof, np.shape(data)[1])
        x = data - (np.sum(data * w, axis=1) / np.sum(w))[:, None]
        k = np.shape(x)[0]
        g = np.reshape(dy, (k, k)) / factor
        if position == 6:
            direct = np.real(np.sum(conj(x) * (np.transpose(g) @ x), axis=0))
            total = np.real(np.sum(dy * y)) / factor
            return (direct if fweights is None else direct * fweights) - total * d_factor
        # The mean's own slope adds nothing: the weighted deviations sum to 0.
        dx = (g @ conj(x) + conj(np.transpose(g) @ x)) * w
        first = k if other is None else k - np.shape(observations(other, rowvar)[0])[0]
        part, own = (dx[:first], m) if position == 0 else (dx[first:], other)
        return np.reshape(np.transpose(part) if turns[position] else part, np.shape(own))

    return pulled


def joined(m: Array, other: Any, rowvar: bool, y: Array) -> tuple[Array, tuple[bool, bool]]:
    """Return the observations of one or two data sets, and which of them were turned round."""
    if other is None:
        data, turns = observations(m, rowvar, max(int(np.size(y) ** 0.5 + 0.5), 1))
        return data, (turns, False)
    first, second = observations(m, rowvar), observations(other, rowvar)
    return np.concatenate([first[0], second[0]]), (first[1], second[1])


def weights_of(f: Any, a: Any, ddof: int, n: int) -> tuple[Array, Array, Array]:
    """Return the weights, what the sum of products is divided by, and its slope by `aweights`."""
    if f is None and a is None:
        return np.ones(n), n - ddof, 0.0
    repeats = np.ones(n) if f is None else np.multiply(f, 1.0)
    w = repeats if a is None else repeats * a
    total = np.sum(w)
    if a is None or ddof == 0:
        return w, total - ddof, repeats
    squares = np.sum(w * a)
    slope = 2 * w / total - repeats * (squares / total**2)
    return w, total - ddof * squares / total, repeats - ddof * slope


def corrcoef_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of correlations: a covariance, divided by the standard deviations."""

    def pulled(
        dy: Array, y: Array, x: Array, other: Any = None, rowvar: bool = True, bias: Any = None,
        ddof: Any = None, *, dtype: Any = None,
    ) -> Array:  # fmt: skip
        if np.ndim(y) == 0:
            return np.zeros_like((x, other)[position])
        c = np.cov(x, other, rowvar)
        variance = np.real(np.diagonal(c))
        size = np.sqrt(np.outer(variance, variance))
        own = np.real(np.sum(dy * y + np.transpose(dy * y), axis=1)) / variance * -0.5
        return cov_vjp(position)(dy / size + np.diag(own), c, x, other, rowvar, dtype=dtype)

    return pulled


# Histograms: what a count is made of, and the edges, which follow the smallest and largest value.


@primitive
def counts(a: Array, bins: Any, range: Any, weights: Any) -> Array:
    """Return how many numbers, or how much weight, each bin of np.histogram holds."""
    return np.histogram(a, bins, range, None, weights)[0]


@primitive
def counts_in_cells(columns: Any, edges: Any, weights: Any) -> Array:
    """Return how many points, or how much weight, each cell of np.histogramdd holds."""
    return np.histogramdd(columns, edges, None, None, weights)[0]


def bin_of(x: Array, edges: Array) -> tuple[Array, Array]:
    """Return the bin that each number lies in, and whether it lies in one."""
    n = np.shape(edges)[0] - 1
    at: Array = np.searchsorted(edges, x, side="right") - 1
    at = np.where(np.equal(x, edges[-1]), n - 1, at)
    held = np.logical_and(np.greater_equal(at, 0), np.less(at, n))
    return np.clip(at, 0, n - 1), held


def counts_vjp(dy: Array, y: Array, a: Array, bins: Any, range: Any, weights: Array) -> Array:
    """Pull back to the weights; where a number lies has no slope."""
    if not np.size(dy):
        return np.zeros_like(weights)
    edges = np.histogram_bin_edges(a, bins, range, None)
    at, held = bin_of(a, edges)
    return np.where(held, np.take(dy, at), 0)


def cells_vjp(dy: Array, y: Array, columns: Any, edges: Any, weights: Array) -> Array:
    """Pull back to the weights; where a point lies has no slope."""
    found = [bin_of(x, e) for x, e in zip(columns, edges, strict=True)]
    kept = np.logical_and.reduce(np.stack([held for _, held in found]))
    return np.where(kept, dy[tuple(at for at, _ in found)], 0)


def edges_vjp(which: str) -> Callable[..., Any]:
    """Return the rule of a histogram's edges for the data, given edges or a given range.

    The number of bins has no slope.
    """

    @takes_list
    def pulled(
        dy: Array, y: Array, a: Array, bins: Any = 10, range: Any = None, weights: Any = None
    ) -> Any:
        is_given = not isinstance(bins, str) and np.ndim(bins) == 1
        if which == "bins":
            return dy if is_given else None
        t = np.linspace(0.0, 1.0, np.shape(dy)[0])
        ends = np.sum(dy * (1 - t)), np.sum(dy * t)
        if which == "range":
            return None if is_given else type(range)(ends)
        if is_given or range is not None or not np.size(a):
            return np.zeros_like(a)
        return extreme_vjp(ends[0], np.min(a), a) + extreme_vjp(ends[1], np.max(a), a)

    return pulled


@composed(np.histogram)
def histogram(
    a: Array, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, Array]:
    """Return what np.histogram returns, by counts and edges."""
    edges = np.histogram_bin_edges(a, bins, range, weights)
    n = counts(a, bins, range, weights)
    if density:
        n = n / np.diff(edges) / np.sum(n)
    return n, edges


@composed(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, list[Array]]:
    """Return what np.histogramdd returns, by counts and edges."""
    columns = as_columns(sample)
    each = [bins] * len(columns) if np.ndim(bins) == 0 else list(bins)
    ranges = [None] * len(columns) if range is None else list(range)
    if not len(columns) == len(each) == len(ranges):
        raise ValueError("bins and range must have one entry per dimension of the sample x.")
    edges = [
        b if np.ndim(b) == 1 else np.histogram_bin_edges(x, b, r)
        for x, b, r in zip(columns, each, ranges, strict=True)
    ]
    n = counts_in_cells(columns, edges, weights)
    if density:
        total = np.sum(n)
        for k, e in enumerate(edges):
            n = n / np.reshape(np.diff(e), (-1,) + (1,) * (len(edges) - k - 1))
        n = n / total
    return n, edges


@composed(np.histogram2d)
def histogram2d(
    x: Array, y: Array, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """Return what np.histogram2d returns, by counts and edges."""
    if np.shape(x)[0] != np.shape(y)[0]:
        raise ValueError("x and y must have the same length.")
    both = np.ndim(bins) > 0 and len(bins) not in (1, 2)
    n, edges = histogramdd([x, y], [bins, bins] if both else bins, range, density, weights)
    return n, edges[0], edges[1]


def as_columns(sample: Any) -> list[Array]:
    """Return a sample as one vector a dimension."""
    if type(sample) in (list, tuple):
        return list(sample)
    if np.ndim(sample) == 2:
        return [sample[along(1, 2, k)] for k in range(np.shape(sample)[1])]
    return [sample]


defvjp(np.cov, cov_vjp(0), cov_vjp(1), zero, zero, None, None, cov_vjp(6))
defvjp(np.corrcoef, corrcoef_vjp(0), corrcoef_vjp(1))
defvjp(counts, zero, zero, zero, counts_vjp)
defvjp(counts_in_cells, zero, zero, cells_vjp)
defvjp(np.histogram_bin_edges, *map(edges_vjp, ("data", "bins", "range")), zero)
