"""Calls of reductions and of running sums and products."""

from __future__ import annotations

from tests.fuzz.draw import Draw, is_complex
from tests.fuzz.families.table import makes

METHODS = ("sum", "mean", "prod", "max", "min", "var", "std")


def holed(d: Draw, x: str) -> str:
    """Return an expression with NaNs in it, but no slice wholly NaN for most axes."""
    return f"np.where({d.mask(d.shape_of(x))}, {x}, np.nan)" if d.chance(0.8) else x


def reduced(d: Draw, name: str, x: str, **options: str | None) -> str:
    """Return a call with an axis in one of its forms, and some options."""
    axis = d.axis(x)
    rest = d.options(keepdims=d.pick(["True", "False"]), **options)
    method = name.removeprefix("np.")
    form = d.pick(["keyword", "keyword", "position", "bare", "method"])
    if form == "method" and d.ndim(x) and method in METHODS:
        return f"({x}).{method}(axis={axis}{rest})"
    if form == "bare":
        return f"{name}({x}{rest})"
    return f"{name}({x}, {'axis=' if form != 'position' else ''}{axis}{rest})"


def start(d: Draw) -> str:
    """Return an expression for what a reduction starts from."""
    return d.pick([str(d.number()), d.array(()), d.array(())])


@makes("np.sum np.mean np.prod")
def total(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    mask = d.mask(d.shape_of(x)) if d.chance(0.3) else None
    initial = start(d) if name != "np.mean" and d.chance(0.3) else None
    if initial and d.chance(0.3):
        return f"{name}({x}, {d.axis(x)}, None, None, {d.pick([True, False])}, {initial})"
    dtype = "np.float64" if d.chance(0.15) and not is_complex(d.value(x)) else None
    return reduced(d, name, x, where=mask, initial=initial, dtype=dtype)


@makes("np.max np.min np.amax np.amin")
def extreme(d: Draw, name: str) -> str:
    x = d.array()
    bound = d.pick(["-1.0" if "max" in name else "1.0", d.array(())])
    if d.chance(0.15):
        return f"{name}({x}, axis={d.axis(x)}, initial={bound}, where={d.mask(d.shape_of(x))})"
    if d.chance(0.15):
        return f"{name}({x}, {d.axis(x)}, None, {d.pick([True, False])}, {bound})"
    return reduced(d, name, x, initial=bound if d.chance(0.2) else None)


@makes("np.ptp")
def ptp(d: Draw, name: str) -> str:
    return reduced(d, name, d.array(least=1))


@makes("np.var np.std")
def variance(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=2)
    mask = d.mask(d.shape_of(x)) if d.chance(0.3) else None
    option = d.pick(["ddof", "correction"])
    options = {option: d.pick(["0", "1", "0.5"]), "where": mask}
    if d.chance(0.15):
        return with_mean(d, name, x)
    return reduced(d, name, x, **options)


def with_mean(d: Draw, name: str, x: str) -> str:
    """Return a spread about a given centre."""
    axis = d.axis(x, none=False)
    mean = d.pick(
        [
            f"np.mean({x}, axis={axis}, keepdims=True)",
            f"np.reshape({d.array(())}, {(1,) * d.ndim(x)})",
        ]
    )
    return f"{name}({x}, axis={axis}, mean={mean}{d.options(keepdims='True', ddof='0.5')})"


@makes("np.nansum np.nanmean np.nanprod np.nanmax np.nanmin")
def around_nans(d: Draw, name: str) -> str:
    kind = "any" if name in ("np.nansum", "np.nanmean", "np.nanprod") else "real"
    x = holed(d, d.array(kind=kind, low=1, least=2))
    initial = start(d) if name != "np.nanmean" and d.chance(0.4) else None
    if initial and d.chance(0.5):
        blank = "None, None, False" if name in ("np.nansum", "np.nanprod") else "None, False"
        return f"{name}({x}, {d.axis(x)}, {blank}, {initial})"
    return reduced(d, name, x, initial=initial)


@makes("np.nanvar np.nanstd")
def variance_around_nans(d: Draw, name: str) -> str:
    x = d.array(low=1, least=4)
    if d.chance(0.15):
        return with_mean(d, name, x)
    return reduced(d, name, holed(d, x), ddof=d.pick(["0", "1"]))


@makes("np.cumsum np.cumprod np.nancumsum np.nancumprod")
def running(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    axis = d.axis(x, many=False)
    if name in ("np.cumsum", "np.cumprod") and d.chance(0.3):
        return f"({x}).{name[3:]}({axis})"
    x = holed(d, x) if "nan" in name else x
    return f"{name}({x}{d.pick([f', axis={axis}', f', {axis}', ''])})"


@makes("np.cumulative_sum np.cumulative_prod")
def cumulative(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    axis = f", axis={d.axis(x, none=False, many=False)}"
    axis = "" if d.ndim(x) == 1 and d.chance(0.4) else axis
    return f"{name}({x}{axis}{d.options(include_initial='True')})"


@makes("np.average")
def average(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    shape, axis = d.shape_of(x), d.axis(x, many=False)
    same = d.within(d.array(shape), "positive")
    ways = [
        f"{name}({x}, {axis})",
        f"{name}({x}, axis={axis}, keepdims=True)",
        f"{name}({x}, {axis}, {same})",
        f"{name}({x}, None, {same}{d.pick([', True', ''])})",
    ]
    if axis != "None":
        along = d.within(d.array((shape[int(axis)],)), "positive")
        ways.append(f"{name}({x}, {axis}, {along}{d.options(keepdims='True')})")
    if len(shape) == 3:
        some = d.within(d.array((shape[2], shape[0])), "positive")
        ways.append(f"{name}({x}, (2, 0), {some})")
    return str(d.pick(ways))


@makes("np.median np.nanmedian")
def median(d: Draw, name: str) -> str:
    x = d.array(low=1, least=1)
    return reduced(d, name, holed(d, x) if "nan" in name else x)


QUANTILES = (
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf",
)  # fmt: skip


@makes("np.quantile np.percentile np.nanquantile np.nanpercentile")
def quantile(d: Draw, name: str) -> str:
    x = d.array(low=1, least=1)
    scale = 100 if "percentile" in name else 1
    q = d.pick([0.0, 0.25, 0.3, 0.5, 0.71, 1.0]) * scale
    traced = f"{scale} * (0.5 + 0.45 * np.tanh({d.array(high=1)}))"
    q = d.pick([q, [q, 0.1 * scale], traced, traced])
    method = d.options(method=repr(d.pick(QUANTILES))) if d.chance(0.5) else ""
    x = holed(d, x) if "nan" in name else x
    return f"{name}({x}, {q}{d.options(axis=d.axis(x), keepdims='True')}{method})"
