"""Calls of products of vectors, matrices and arrays."""

from __future__ import annotations

from tests.fuzz.draw import Draw, Unfit
from tests.fuzz.families.table import makes


def length(d: Draw) -> int:
    return d.integer(0, 3) if d.chance(0.1) else d.integer(1, 3)


@makes("np.matmul np.linalg.matmul")
def matmul(d: Draw, name: str) -> str:
    n, m, k = length(d), length(d), length(d)
    pairs = [
        ((n,), (n,)), ((m, n), (n,)), ((n,), (n, k)), ((m, n), (n, k)), ((2, m, n), (n, k)),
        ((2, m, n), (2, n, k)), ((1, m, n), (3, n, k)), ((n,), (2, n, k)), ((2, m, n), (n,)),
    ]  # fmt: skip
    a, b = d.pick(pairs if name == "np.matmul" else pairs[3:7])
    a, b = d.array(a, kind="any"), d.array(b, kind="any")
    return f"({a}) @ ({b})" if d.chance(0.5) else f"{name}({a}, {b})"


@makes("np.dot")
def dot(d: Draw, name: str) -> str:
    n, m, k = length(d), length(d), length(d)
    pairs = [
        ((n,), (n,)), ((m, n), (n,)), ((n,), (n, k)), ((m, n), (n, k)), ((2, m, n), (n,)),
        ((n,), (2, n, k)), ((2, m, n), (3, n, k)), ((), (m, n)), ((m, n), ()), ((), ()),
    ]  # fmt: skip
    a, b = d.pick(pairs)
    a, b = d.array(a, kind="any"), d.array(b, kind="any")
    return f"({a}).dot({b})" if d.ndim(a) and d.chance(0.2) else f"{name}({a}, {b})"


@makes("np.inner")
def inner(d: Draw, name: str) -> str:
    n, m = length(d), length(d)
    a, b = d.pick(
        [
            ((n,), (n,)),
            ((m, n), (n,)),
            ((m, n), (2, n)),
            ((2, m, n), (3, n)),
            ((), (m, n)),
            ((m,), ()),
        ]
    )
    return f"{name}({d.array(a, kind='any')}, {d.array(b, kind='any')})"


@makes("np.vdot")
def vdot(d: Draw, name: str) -> str:
    a, b = d.pick([((3,), (3,)), ((2, 3), (3, 2)), ((), ()), ((2, 2), (4,))])
    return f"{name}({d.array(a, kind='any')}, {d.array(b, kind='any')})"


@makes("np.vecdot np.linalg.vecdot")
def vecdot(d: Draw, name: str) -> str:
    n, m = length(d), length(d)
    a, b = d.pick([((n,), (n,)), ((m, n), (n,)), ((m, n), (2, 1, n)), ((m, n), (1, n))])
    a, b = d.array(a, kind="any"), d.array(b, kind="any")
    if d.ndim(a) == d.ndim(b) == 2 and d.shape_of(a)[0] == d.shape_of(b)[0]:
        return f"{name}({a}, {b}, axis={d.pick([0, -2])})"
    keep = d.options(keepdims="True") if name == "np.vecdot" else ""
    return f"{name}({a}, {b}{keep})"


@makes("np.matvec np.vecmat")
def matvec(d: Draw, name: str) -> str:
    n, m = length(d), length(d)
    matrix, vector = d.pick([((m, n), (n,)), ((2, m, n), (n,)), ((m, n), (2, n))])
    if name == "np.vecmat":
        matrix = (*matrix[:-2], matrix[-1], matrix[-2])
    a, b = d.array(matrix, kind="any"), d.array(vector, kind="any")
    return f"{name}({a}, {b})" if name == "np.matvec" else f"{name}({b}, {a})"


@makes("np.outer np.linalg.outer")
def outer(d: Draw, name: str) -> str:
    high = 1 if "linalg" in name else 2
    low = 1 if "linalg" in name else 0
    return (
        f"{name}({d.array(kind='any', low=low, high=high)}, {d.array(kind='any', low=low, high=1)})"
    )


@makes("np.kron")
def kron(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', high=2, least=1)}, {d.array(kind='any', high=2, least=1)})"


@makes("np.tensordot np.linalg.tensordot")
def tensordot(d: Draw, name: str) -> str:
    n, m, k = length(d), length(d), length(d)
    option = "axes=" if "linalg" in name or d.chance(0.5) else ""
    shapes, axes = d.pick([
        (((m, n), (n, k)), "1"),
        (((k, m, n), (m, n, k)), "2"),
        (((m, n), (k, m)), "([0], [1])"),
        (((2, m, n), (n, 3, m)), "([1, 2], [2, 0])"),
        (((2, m, n), (n, 3)), "((-1,), (0,))"),
        (((m,), (n,)), "0"),
        (((m, n), (m, k)), "(0, 0)"),
    ])  # fmt: skip
    a, b = (d.array(s, kind="any") for s in shapes)
    return f"{name}({a}, {b}, {option}{axes})"


@makes("np.cross np.linalg.cross")
def cross(d: Draw, name: str) -> str:
    n = d.integer(1, 2)
    if d.chance(0.3):
        a, b = d.array((3, n)), d.array((3, n))
        return f"{name}({a}, {b}, axis=0)"
    a, b = (
        d.array((n, 3)),
        d.array(d.pick([(n, 3), (3,), (1, 3)]) if name == "np.cross" else (n, 3)),
    )
    rest = d.options(axisc="0") if name == "np.cross" else ""
    return f"{name}({a}, {b}{rest})"


TERMS = (
    "ij->ji", "ij->i", "ij->", "ij", "ii", "ii->i", "iij->j", "i,i", "i,j->ji", "ij,jk->ik",
    "ij,jk", "ij,kj->ik", "ij,ij->i", "ij,jk,kl->il", "ijk,jk->i", "ij,jk,k->i", "ij,k->k",
    "i,ij,j->", "ij,ij", "...i,...i->...", "...ij,...jk->...ik", "i...->...", "...ii->...i",
    "ij , jk -> k",
)  # fmt: skip


@makes("np.einsum")
def einsum(d: Draw, name: str) -> str:
    sizes = {c: length(d) for c in "ijkl"}
    terms = d.pick(TERMS)
    inputs = terms.replace(" ", "").split("->")[0].split(",")
    lead = (2,) if d.chance(0.5) else ()
    operands = []
    for term in inputs:
        dots = lead if "..." in term and (not operands or d.chance(0.7)) else ()
        shape = tuple(sizes[c] for c in term.replace("...", ""))
        operands.append(
            d.array((*dots, *shape) if term.startswith("...") else (*shape, *dots), kind="any")
        )
    if "." not in terms and " " not in terms and d.chance(0.15):
        return as_lists(name, inputs, terms.partition("->"), operands)
    return f"{name}({terms!r}, {', '.join(operands)}{d.options(optimize='True')})"


def as_lists(name: str, inputs: list[str], split: tuple[str, str, str], operands: list[str]) -> str:
    """Return the call in the form of operands and lists of labels."""
    parts = [f"{x}, {['ijkl'.index(c) for c in t]}" for x, t in zip(operands, inputs, strict=True)]
    if split[1]:
        parts.append(repr(["ijkl".index(c) for c in split[2]]))
    return f"{name}({', '.join(parts)})"


@makes("np.convolve np.correlate")
def convolve(d: Draw, name: str) -> str:
    a, b = (d.array(kind="any", low=1, high=1, least=1) for _ in range(2))
    if d.ndim(a) != 1:
        raise Unfit
    return f"{name}({a}, {b}{d.pick(['', *(f', {m!r}' for m in ('full', 'same', 'valid'))])})"
