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
from tests.fuzz.families.table import MAKERS

__all__ = [
    "MAKERS",
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
