"""`scipy.linalg` for traced values: systems, factorizations, functions of matrices.

Every other name is SciPy's own.
"""

from __future__ import annotations

from typing import Any

from scipy import linalg as _linalg

from yota.scipy.linalg.factors import (
    cho_factor,
    cho_solve,
    cholesky,
    eigh,
    eigvalsh,
    lu_factor,
    lu_solve,
    norm,
    pinv,
    svd,
    svdvals,
)
from yota.scipy.linalg.forms import block_diag, circulant, hankel, toeplitz
from yota.scipy.linalg.functions import expm, logm, sqrtm
from yota.scipy.linalg.systems import (
    det,
    inv,
    solve,
    solve_banded,
    solve_sylvester,
    solve_triangular,
)

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "det",
    "eigh",
    "eigvalsh",
    "expm",
    "hankel",
    "inv",
    "logm",
    "lu_factor",
    "lu_solve",
    "norm",
    "pinv",
    "solve",
    "solve_banded",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "toeplitz",
]


def __getattr__(name: str) -> Any:
    return getattr(_linalg, name)


def __dir__() -> list[str]:
    return dir(_linalg)
