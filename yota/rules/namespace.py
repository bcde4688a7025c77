"""What functions and array attributes of NumPy are to a gradient where no rule says it.

A function with a rule needs no line here; `standing` tells for any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.registry import COMPOSED, NONDIFF, REFUSED, VJP

STACK = "use np.stack, or yota.array for lists of traced values"
OWN_NUMPY = "make it with `import yota.numpy as np`, or with np.broadcast_to and np.copy"
NO_NEED = "leave it away: traced values are arrays already; np.copy(x, order=...) sets the layout"

# NumPy asks no class of their arguments what to do: a traced value in them raises TraceError.
UNSEEN: dict[str, str] = {
    "arange": "use start + step * np.arange(n)",
    "array": STACK,
    "asanyarray": NO_NEED,
    "asarray": NO_NEED,
    "asarray_chkfinite": "leave it away, or test np.isfinite(x)",
    "ascontiguousarray": NO_NEED,
    "asfortranarray": NO_NEED,
    "asmatrix": "use arrays of two axes",
    "as_strided": "use np.lib.stride_tricks.sliding_window_view, or an index",
    "bmat": "use np.block",
    "broadcast": "use np.broadcast_arrays",
    "format_float_positional": "print the value, or return it from the function",
    "format_float_scientific": "print the value, or return it from the function",
    "fromiter": STACK,
    "frompyfunc": "use NumPy's functions, or a yota.primitive with its own rule",
    "full": OWN_NUMPY,
    "kaiser": "use np.i0",
    "matrix": "use arrays of two axes",
    "ndenumerate": "use np.ndindex(x.shape)",
    "nditer": "use np.ndindex(x.shape), or functions of whole arrays",
    "nested_iters": "use np.ndindex(x.shape), or functions of whole arrays",
    "recarray": "use a dict of arrays",
    "require": NO_NEED,
    "vectorize": "use NumPy's functions, np.apply_along_axis, or np.stack of single calls",
}

# Python functions and classes of NumPy's that are followed like the user's own.
FOLLOWED = frozenset(("fftfreq", "fromfunction", "poly1d", "rfftfreq", "row_stack"))

# Take sizes, types, texts, files or settings, but no floating numbers.
NO_NUMBERS = frozenset(
    """
    bartlett base_repr binary_repr blackman broadcast_shapes busday_count busday_offset
    busdaycalendar datetime_as_string datetime_data diag_indices dtype empty errstate eye finfo
    flatiter from_dlpack frombuffer fromfile fromregex fromstring genfromtxt get_include
    get_printoptions getbufsize geterr geterrcall hamming hanning identity iinfo indices info
    is_busday isdtype isfortran issubdtype iterable load loadtxt mask_indices memmap mintypecode
    ndarray ndindex ones printoptions promote_types save savetxt savez savez_compressed
    set_printoptions setbufsize seterr seterrcall show show_config show_runtime PytestTester tri
    tril_indices triu_indices typename ufunc zeros LinAlgError
    """.split()  # noqa: SIM905  # a table of words
)

# Attributes of arrays that a traced one lacks.
ATTRIBUTES: dict[str, str] = {
    "base": "a traced array does not tell whose memory it is",
    "byteswap": "use x.astype with the other byte order",
    "ctypes": "use a yota.primitive with its own rule",
    "data": "use a yota.primitive with its own rule",
    "dump": "return the value from the function instead",
    "dumps": "return the value from the function instead",
    "getfield": "use an array for each field",
    "resize": "use np.resize, which returns a new array",
    "setfield": "use an array for each field",
    "setflags": "use a copy",
    "tobytes": "return the value from the function instead",
    "tofile": "return the value from the function instead",
}


def standing(fn: Callable[..., Any]) -> str | None:
    """Return what a function of NumPy's is to a gradient, None if nobody decided.

    "rule", "composed" (of functions with rules), "nondiff", "refused", "unseen", "followed", or
    "no numbers".
    """
    tables: dict[str, Any] = {
        "rule": VJP,
        "composed": COMPOSED,
        "nondiff": NONDIFF,
        "refused": REFUSED,
    }
    for word, table in tables.items():
        if fn in table:
            return word
    if isinstance(fn, type) and issubclass(fn, np.generic):
        return "unseen"
    name = getattr(fn, "__name__", type(fn).__name__)
    named: dict[str, Any] = {"unseen": UNSEEN, "followed": FOLLOWED, "no numbers": NO_NUMBERS}
    return next((word for word, names in named.items() if name in names), None)
