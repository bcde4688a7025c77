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

# What is left when all others are there.
from tests.fuzz.families import sampled  # isort: skip

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
