"""Makers of calls by family of functions: importing this package fills the table MAKERS."""

from tests.fuzz.families import (
    algebra,
    choices,
    elementwise,
    fourier,
    indexing,
    others,
    polynomials,
    products,
    python,
    reductions,
    shapes,
)
from tests.fuzz.families import sampled  # isort: skip  # what is left when all others are there

__all__ = [
    "algebra",
    "choices",
    "elementwise",
    "fourier",
    "indexing",
    "others",
    "polynomials",
    "products",
    "python",
    "reductions",
    "sampled",
    "shapes",
]
