"""Calls that reach every rule: (name, function, arguments, options, differentiated positions)."""

from __future__ import annotations

from tests.yota.rules.samples.choosing import others, selections, sets, statistics
from tests.yota.rules.samples.makers import (
    Sample,
    case,
    cplx,
    hermitian,
    holes,
    inside,
    positive,
    real,
    regular,
    runs,
    single,
    spd,
    supported,
    unique,
)
from tests.yota.rules.samples.matrices import fourier, linear_algebra
from tests.yota.rules.samples.moving import indexing, padded, shapes
from tests.yota.rules.samples.multiplying import products
from tests.yota.rules.samples.pointwise import elementwise
from tests.yota.rules.samples.rare import rare
from tests.yota.rules.samples.reducing import norms, reductions, ufunc_methods
from tests.yota.rules.samples.spacing import polynomials, spaced

FAMILIES = (
    polynomials,
    ufunc_methods,
    sets,
    spaced,
    padded,
    statistics,
    elementwise,
    reductions,
    norms,
    products,
    shapes,
    indexing,
    selections,
    linear_algebra,
    fourier,
    others,
    rare,
)
SAMPLES: list[Sample] = list(unique(supported(s for family in FAMILIES for s in family())))

__all__ = [
    "SAMPLES",
    "Sample",
    "case",
    "cplx",
    "hermitian",
    "holes",
    "inside",
    "positive",
    "real",
    "regular",
    "runs",
    "single",
    "spd",
    "supported",
    "unique",
]
