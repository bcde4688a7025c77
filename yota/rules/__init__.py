"""The rules of NumPy's functions: importing this package fills the table."""

from yota.rules import elementwise, fft, index, linalg, products, reduce, select, shape, special

__all__ = [
    "elementwise",
    "fft",
    "index",
    "linalg",
    "products",
    "reduce",
    "select",
    "shape",
    "special",
]
