"""How many elements the result of a call has at most, found without running it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yotaview.model.bounds.shapes import broadcast, largest, shapes_in
from yotaview.model.bounds.sizers import SIZERS

# each element of the result belongs to elements of the operands, broadcast against each other
BROADCAST = frozenset([
    "abs", "add", "allclose", "and_", "arccos", "arcsin", "arctanh", "array_equiv", "average",
    "broadcast_arrays", "choose", "clip", "cross", "divmod", "eq", "floordiv", "ge", "gt", "i0",
    "index", "invert", "isclose", "le", "log", "log10", "log2", "logn", "lshift", "lt", "mod",
    "mul", "ne", "neg", "not_", "or_", "pos", "pow", "power", "round", "rshift", "select",
    "sqrt", "sub", "take_along_axis", "truediv", "truth", "vecdot", "where", "xor",
])  # fmt: skip
# the result has no more elements than the operands have together, whatever their numbers are
NO_LARGER = frozenset([
    "accumulate", "add_at", "all", "amax", "amin", "angle", "any", "append", "argmax", "argmin",
    "argpartition", "argsort", "around", "array_equal", "astype", "atleast_1d", "atleast_2d",
    "atleast_3d", "block", "can_cast", "cast", "ceil", "cholesky", "cofactors", "column_stack",
    "common_type", "compress", "concatenate", "copy", "count_nonzero", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "delete", "det", "diag_indices_from", "diagonal",
    "digitize", "dstack", "ediff1d", "eig", "eigh", "eigvals", "eigvalsh", "expand_dims",
    "extract", "fftshift", "fix", "flatnonzero", "flip", "fliplr", "flipud", "floor",
    "gradient", "halt", "hstack", "ifftshift", "imag", "interp", "inv", "iscomplex",
    "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "item", "ix_",
    "lexsort", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "max", "mean",
    "median", "min", "min_scalar_type", "moveaxis", "nan_to_num", "nanargmax", "nanargmin",
    "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanprod", "nanstd",
    "nansum", "nanvar", "ndim", "norm", "packbits", "partition", "pinv", "prod", "ptp", "ravel",
    "ravel_multi_index", "real", "real_if_close", "reduce", "reshape", "result_type", "roll",
    "rollaxis", "rot90", "searchsorted", "setdiff1d", "setitem", "setxor1d", "shape", "sinc",
    "size", "slogdet", "sort", "sort_complex", "squeeze", "stack", "std", "sum", "svdvals",
    "swapaxes", "tensorinv", "tensorsolve", "trace", "transpose", "trapezoid", "tril",
    "tril_indices_from", "trim_zeros", "triu", "triu_indices_from", "trunc", "union1d",
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack",
    "unwrap", "var", "vdot", "vector_norm", "vstack", "with_imag", "with_real", "writers",
])  # fmt: skip


def result_size(name: str, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Return at most how many elements a call's result has; raises whatever odd operands cause."""
    sizer = SIZERS.get(name)
    if sizer is not None:
        return sizer(*args, **kwargs)
    shapes = list(shapes_in((args, kwargs)))
    if isinstance(fn, np.ufunc) and fn.signature is None:
        return broadcast(shapes)
    if name in BROADCAST:
        return broadcast(shapes)
    if name in NO_LARGER:
        return sum(map(math.prod, shapes))
    return math.prod(math.prod(s) or 1 for s in shapes) * max(largest((args, kwargs)), 1)
