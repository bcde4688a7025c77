"""The facts of a value in a few numbers, and the cells of a grid of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from yota.tape import spec_of
from yotaview.model.forms import MAX_BITS, text_of

BARS = "▁▂▃▄▅▆▇█"
BINS = 10
# an array beyond this is told from a sample first
LARGE = 4_000_000
SAMPLE = 40_000
MAGNITUDE = "|z|"


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all elements; minimum to norm over the finite ones, None where there are none.

    Complex values are measured by magnitude, as `symbol` says.  Where `sampled` is not 0, so many
    elements were looked at, spread evenly, and all facts are of those.  `bars` is a histogram of
    the finite elements between minimum and maximum, blank where a bin is empty.
    """

    type_text: str
    nbytes: int
    size: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    norm: float | None = None
    nan: int = 0
    inf: int = 0
    zero: int = 0
    negative: int = 0
    positive: int = 0
    bars: str = ""
    note: str = ""
    symbol: str = "x"
    sampled: int = 0

    @property
    def is_complex(self) -> bool:
        """Tell whether what is measured are magnitudes, which have no sign."""
        return self.symbol == MAGNITUDE

    @property
    def finite(self) -> bool:
        """Tell whether no element is NaN or infinite."""
        return not (self.nan or self.inf)


def sample_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a large array's elements at even distances, at most about SAMPLE; others whole.

    Along each axis the distance is odd, so that it does not keep step with a layout in pairs.
    """
    if x.size <= LARGE:
        return x
    steps = [1] * x.ndim
    left = x.size // SAMPLE
    for axis in sorted(range(x.ndim), key=lambda k: -x.shape[k]):
        steps[axis] = min(left, max(x.shape[axis] // 8, 1)) | 1
        left = -(-left // steps[axis])
    return x[tuple(slice(None, None, step) for step in steps)]


def quick_summary(value: Any) -> Summary:
    """Return the facts of a value, of a large array those of a sample."""
    x = numeric(value)
    if x is None or x.size <= LARGE:
        return summarise(value)
    spec = spec_of(value)
    taken = sample_of(x)
    found = replace(summarise(taken), type_text=spec.text(short=True), nbytes=spec.nbytes)
    norm = None if found.norm is None else found.norm * math.sqrt(x.size / taken.size)
    return replace(found, size=x.size, norm=norm, sampled=taken.size)


def summarise(value: Any) -> Summary:
    """Return the facts of a number, an array, or a tuple of arrays."""
    spec = spec_of(value)
    text = spec.text(short=True)
    if isinstance(value, tuple | list):
        return Summary(text, spec.nbytes, note=f"{len(value)} items")
    x = numeric(value)
    if x is None:
        return Summary(text, spec.nbytes, note=type(value).__name__)
    if x.size == 0:
        return Summary(text, spec.nbytes, note="empty")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _measure(text, spec.nbytes, x)


def numeric(value: Any) -> np.ndarray[Any, Any] | None:
    """Return a value as an array of numbers, None if it is not one."""
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        return None
    try:
        x = np.asarray(plain_number(value))
    except OverflowError:
        return None
    return x if x.dtype.kind in "biufc" else None


def plain_number(value: Any) -> Any:
    """Return a number of a class of the user's as the number that it is; none of its code runs."""
    kind = type(value)
    if isinstance(value, np.generic | np.ndarray) or kind in (bool, int, float, complex):
        return value
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, int):
        return int.__int__(value)
    return complex.__complex__(value) if isinstance(value, complex) else value


def modulus(v: Any) -> float:
    """Return the size of a number: Python's own raises where it overflows, at times for NaN too."""
    with np.errstate(all="ignore"):
        return float(np.abs(np.asarray(v)))


def _measure(text: str, nbytes: int, x: np.ndarray[Any, Any]) -> Summary:
    real, is_complex = _as_real(x), x.dtype.kind == "c"
    signed = x.real if is_complex else real
    counted = Summary(
        text,
        nbytes,
        x.size,
        nan=int(np.count_nonzero(np.isnan(x))),
        inf=int(np.count_nonzero(np.isinf(x))),
        zero=int(np.count_nonzero(x == 0)),
        negative=int(np.count_nonzero(signed < 0)),
        positive=int(np.count_nonzero(signed > 0)),
        symbol=MAGNITUDE if is_complex else "x",
    )
    finite = real if counted.finite else real[np.isfinite(real)]
    if finite.size == 0:
        return counted
    low, high = float(finite.min()), float(finite.max())
    return replace(
        counted,
        minimum=low,
        maximum=high,
        mean=float(finite.mean()),
        std=float(finite.std()),
        norm=norm_of(finite),
        bars=_bars(finite, low, high) if x.size > 1 else "",
    )


def _as_real(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if x.dtype.kind == "c":
        x = np.abs(x)
    wide: np.ndarray[Any, Any] = x if x.dtype == np.longdouble else x.astype(float, copy=False)
    return wide


def norm_of(x: np.ndarray[Any, Any]) -> float:
    """Return the Euclidean norm of all elements, scaled so that squares do not overflow."""
    big = float(np.max(np.abs(x))) if x.size else 0.0
    if big == 0.0 or not math.isfinite(big):
        return big
    return big * float(np.sqrt(np.sum(np.square(np.abs(x) / big))))


def _bars(x: np.ndarray[Any, Any], low: float, high: float) -> str:
    width = high - low
    if not math.isfinite(width) or width == 0.0:
        return ""
    where = np.minimum(((x.ravel() - low) / width * BINS).astype(np.intp), BINS - 1)
    counts = np.bincount(where, minlength=BINS)
    top = int(counts.max())
    return "".join(" " if c == 0 else BARS[math.ceil(c / top * len(BARS)) - 1] for c in counts)


@dataclass(frozen=True, slots=True)
class Grid:
    """A window of a 2-D slice: text cells with their numbers; `scale` multiplies the cells."""

    cells: tuple[tuple[str, ...], ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    scale: str
    slice_text: str
    row_count: int
    column_count: int
    numbers: np.ndarray[Any, Any]
    largest: float


def grid(
    value: Any,
    rows: int,
    cols: int,
    at: Sequence[int] = (),
    top: int = 0,
    left: int = 0,
    largest: float | None = None,
) -> Grid:
    """Return at most `rows` by `cols` cells of the last two axes; `at` fixes the leading axes.

    `largest` is the largest magnitude where that is known already.
    """
    x = numeric(value)
    if x is None:
        x = np.zeros((0, 0))
    plane, slice_text = _plane(x, at)
    window = plane[top : top + rows, left : left + cols]
    largest = _largest(plane) if largest is None else largest
    exponent = _exponent(plane, largest)
    cells = tuple(tuple(_cell(v, exponent) for v in line) for line in window)
    return Grid(
        cells,
        tuple(str(top + k) for k in range(window.shape[0])),
        tuple(f"[:,{left + k}]" for k in range(window.shape[1])),
        f"×1e{exponent:+d}" if exponent else "",
        slice_text,
        plane.shape[0],
        plane.shape[1],
        window,
        largest,
    )


def _cell(v: Any, exponent: int) -> str:
    """Return the text of a cell; what has none stays in its cell."""
    try:
        return format_cell(v, exponent)
    except Exception:  # one number may have no text, the others stay
        return "error"


def _plane(x: np.ndarray[Any, Any], at: Sequence[int]) -> tuple[np.ndarray[Any, Any], str]:
    if x.ndim == 0:
        return x.reshape(1, 1), ""
    if x.ndim == 1:
        return x.reshape(-1, 1), ""
    lead = x.shape[:-2]
    if any(n == 0 for n in lead):
        return np.zeros((0, x.shape[-1]), x.dtype), ""
    index = tuple(
        min(max(int(k), 0), n - 1) for k, n in zip([*at, *[0] * len(lead)], lead, strict=False)
    )
    return x[index], f"[{', '.join(map(str, index))}, :, :]" if lead else ""


def _largest(x: np.ndarray[Any, Any]) -> float:
    if x.size == 0 or x.dtype.kind == "b":
        return 1.0 if x.size else 0.0
    magnitude = np.abs(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
    finite = magnitude[np.isfinite(magnitude)]
    return float(finite.max()) if finite.size else 0.0


def _exponent(x: np.ndarray[Any, Any], big: float) -> int:
    """Return the power of ten that cells leave out: 0 where they read well without one."""
    if x.dtype.kind in "biu" or x.size == 0:
        return 0
    if big == 0.0 or 0.1 <= big < 10_000.0:
        return 0
    return math.floor(math.log10(big))


def format_cell(v: Any, exponent: int = 0) -> str:
    """Return one element as text of at most about seven characters; complex ones take two parts."""
    kind = np.asarray(v).dtype.kind
    if kind == "b":
        return "True" if v else "False"
    if kind in "iu":
        return str(int(v))
    if kind == "c":
        return f"{_real(v.real, exponent)}{_real(v.imag, exponent)}j"
    return _real(float(v), exponent)


def _real(v: float, exponent: int) -> str:
    v = float(v)
    if math.isnan(v):
        return "nan"
    if math.isinf(v):
        return "+inf" if v > 0 else "-inf"
    if v == 0.0:
        return "-0" if math.copysign(1.0, v) < 0 else "0"
    scaled = v / 10.0**exponent if abs(exponent) < 300 else v * 10.0**-exponent
    if abs(scaled) < 5e-5:  # to the same scale as its neighbours, which a float need not reach
        digit, power = f"{v:+.0e}".split("e")
        return f"{digit}e{int(power) - exponent:+03d}"
    return f"{scaled:+.4g}" if abs(scaled) >= 1000 else f"{scaled:+.4f}"


def single(value: Any) -> Any:
    """Return the only element of a number or array, None where there is none or more than one."""
    x = numeric(value)
    return x.reshape(-1)[0] if x is not None and x.size == 1 else None


def format_number(v: Any) -> str:
    """Return a scalar with six significant digits, a complex one as `a+bj`."""
    if v is None:
        return "none"
    v = plain_number(v)
    if isinstance(v, bool | np.bool_):
        return str(bool(v))
    if isinstance(v, complex | np.complexfloating):
        return f"{complex(v):.6g}"
    if isinstance(v, int | np.integer):
        return whole_text(int(v))
    return f"{float(v):.6g}"


def whole_text(v: int) -> str:
    """Return an integer, one that Python would not write out as its length."""
    return str(v) if v.bit_length() <= MAX_BITS else text_of(v)
