"""Calls of ufuncs and their kin."""

from __future__ import annotations

from tests.fuzz.draw import Draw, is_complex
from tests.fuzz.families.table import makes

DOMAIN = {
    "np.log": "positive", "np.log2": "positive", "np.log10": "positive", "np.log1p": "positive",
    "np.sqrt": "positive", "np.arcsin": "unit", "np.arccos": "unit", "np.arctanh": "unit",
    "np.arccosh": "above 1", "np.exp": "small", "np.exp2": "small", "np.expm1": "small",
    "np.sinh": "small", "np.cosh": "small", "np.tan": "unit", "np.reciprocal": "positive",
}  # fmt: skip


@makes(
    "np.negative np.positive np.absolute np.square np.exp np.exp2 np.expm1 np.sin np.cos np.tan "
    "np.arctan np.sinh np.cosh np.tanh np.arcsinh np.arcsin np.arccos np.arctanh np.arccosh "
    "np.sinc np.reciprocal np.sign np.real np.imag np.conjugate np.log np.log2 np.log10 np.log1p "
    "np.sqrt np.real_if_close"
)
def unary(d: Draw, name: str) -> str:
    """Take any type; now and then on an edge of the domain."""
    x = d.array(kind="any")
    if is_complex(d.value(x)):
        return f"{name}({x})"
    x = x if d.chance(0.1) else d.within(x, DOMAIN.get(name))
    option = ", dtype=np.float64" if d.chance(0.04) and not x.startswith("np.real") else ""
    return f"{name}({x}{option})"


@makes("np.fabs np.cbrt np.deg2rad np.radians np.rad2deg np.degrees np.modf np.frexp")
def real_unary(d: Draw, name: str) -> str:
    return f"{name}({d.array()})"


@makes("np.unwrap")
def unwrap(d: Draw, name: str) -> str:
    x = d.array(low=1)
    return f"{name}({x}{d.options(axis=d.axis(x, none=False, many=False), discont=2.5)})"


@makes("np.angle")
def angle(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any')}{d.options(deg=True)})"


@makes("np.nan_to_num")
def nan_to_num(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    holed = f"np.where({d.mask(d.shape_of(x))}, {x}, {d.pick(['np.nan', 'np.inf', '-np.inf'])})"
    return f"{name}({d.pick([x, holed])}{d.options(nan=0.5, posinf=2.0, neginf=-2.0)})"


@makes("np.add np.subtract np.multiply")
def arithmetic(d: Draw, name: str) -> str:
    a = d.array(kind="any")
    b = d.partner(a, d.pick(["real", "real", "any"]))
    a, b = (a, b) if d.chance(0.7) else (b, a)
    return f"{name}({a}, {b})"


@makes("np.divide")
def divide(d: Draw, name: str) -> str:
    a = d.array(kind="any")
    return f"{name}({a}, {d.within(d.partner(a, 'any'), 'positive')})"


@makes("np.remainder np.fmod np.divmod")
def modulo(d: Draw, name: str) -> str:
    a = d.array()
    b = d.within(d.partner(a), "positive")
    return f"{name}({a}, {d.pick([b, f'-({b})'])})"


@makes(
    "np.arctan2 np.hypot np.logaddexp np.logaddexp2 np.copysign np.maximum np.minimum np.fmax "
    "np.fmin"
)
def binary(d: Draw, name: str) -> str:
    a = d.array()
    b = d.partner(a)
    a, b = (a, b) if d.chance(0.7) else (b, a)
    if name in ("np.fmax", "np.fmin") and d.ndim(a) and d.chance(0.3):
        a = f"np.where({d.mask(d.shape_of(a))}, {a}, np.nan)"
    return f"{name}({a}, {b})"


@makes("np.heaviside")
def heaviside(d: Draw, name: str) -> str:
    h = d.array(low=1)
    return f"{name}({d.ints(d.shape_of(h), -1, 1)} * 1.0, {h})"


@makes("np.nextafter")
def nextafter(d: Draw, name: str) -> str:
    return f"{name}({d.array()}, {d.number()})"


@makes("np.ldexp")
def ldexp(d: Draw, name: str) -> str:
    x = d.array()
    return f"{name}({x}, {d.ints(d.shape_of(x), -2, 2)})"


@makes("np.power")
def power(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    whole = d.pick([0, 1, 2, 3, -1, -2, 0.0, 1.0, 2.0, 3.0])
    base = d.within(x, "positive")
    ways = [
        f"({x}) ** {d.pick([0, 1, 2, 3])}",
        f"{name}({base}, {float(whole)})",
        f"({base}) ** {d.pick([whole, 0.5, -0.5, 1.5])!r}",
        f"{name}({base}, {d.partner(x)})",
        f"{d.pick([2, 1.5, 0.5])!r} ** ({x})",
        f"{name}({x}, {d.ints(d.shape_of(x), 0, 3)})",
        f"({base}) ** {d.ints(d.shape_of(x), -2, 3)}",
    ]
    return str(d.pick(ways))


@makes("np.float_power")
def float_power(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    return f"{name}({d.within(x, 'positive')}, {d.partner(x)})"


@makes("np.clip")
def clip(d: Draw, name: str) -> str:
    x, low, high = d.array(), d.number(-1.5, -0.1), d.number(0.1, 1.5)
    ways = [
        f"{name}({x}, {low}, {high})",
        f"{name}({x}, {low}, None)",
        f"{name}({x}, None, {high})",
        f"{name}({x}, a_min={low}, a_max={high})",
        f"{name}({x}, min={low}, max={high})",
        f"{name}({x}, min={d.array(())} - 1.0, max={d.array(())} + 1.0)",
        f"{name}({x}, max={d.partner(x)})",
        f"{name}({x}, {d.within(d.partner(x), 'small')} - 1.0, {d.array(())} + 0.5)",
        f"np.asarray({x}).clip({low})" if d.ndim(x) == 0 else f"({x}).clip({low}, {high})",
        f"{name}({x}, None, {d.partner(x)})",
    ]
    return str(d.pick([w for w in ways if "asarray" not in w]))


@makes("np.where")
def where(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    other = d.pick([d.partner(x, "any"), "0.0", "0", f"2 * {x}"])
    a, b = (x, other) if d.chance(0.5) else (other, x)
    shape = d.shape_of(x)
    if shape and d.chance(0.3):
        shape = shape[1:]
    if d.chance(0.15) and not is_complex(d.value(x)):
        # a branch that is not taken, with an infinite slope in it
        return f"{name}({x} > 0.2, np.sqrt(np.maximum({x}, 0.0)), {other})"
    return f"{name}({d.mask(shape)}, {a}, {b})"
