"""Calls of linear algebra; of vectors whose sign or phase is free only what is not."""

from __future__ import annotations

from tests.fuzz.draw import Block, Draw, is_complex
from tests.fuzz.families.table import makes


def lead(d: Draw) -> tuple[int, ...]:
    return d.pick([(), (), (), (2,), (1,)])


def square(d: Draw, kind: str = "any", high: int = 3) -> str:
    """Return an expression for regular square matrices."""
    n = d.integer(1, high)
    x = d.array((*lead(d), n, n), kind=kind)
    return f"({x} + {d.pick([2.5, 3])} * np.eye({n}))"


def hermitian(d: Draw, kind: str = "any") -> str:
    """Return an expression for Hermitian, positive matrices with eigenvalues apart."""
    n = d.integer(1, 3)
    x = d.array((*lead(d), n, n), kind=kind)
    adjoint = f"np.swapaxes({x}, -1, -2)"
    adjoint = f"np.conj({adjoint})" if is_complex(d.value(x)) else adjoint
    return f"({x} @ {adjoint} + np.diag(np.arange(1.0, {n + 1})))"


def tall(d: Draw, kind: str = "any", single: bool = False) -> str:
    """Return an expression for matrices that need not be square."""
    m, n = d.integer(1, 3), d.integer(1, 3)
    x = d.array((*(() if single else lead(d)), m, n), kind=kind)
    return f"({x} + 2.0 * np.eye({m}, {n}))"


@makes("np.linalg.inv np.linalg.det np.linalg.slogdet")
def of_square(d: Draw, name: str) -> str:
    return f"{name}({square(d)})"


@makes("rules.cofactors")
def cofactors(d: Draw, name: str) -> str:
    return f"{name}({square(d)})"


@makes("rules.second_cofactors")
def second_cofactors(d: Draw, name: str) -> str:
    x = square(d)
    return f"{name}({x}, {d.array(d.shape_of(x), kind='any')} + 0 * {x})"


@makes("np.linalg.solve")
def solve(d: Draw, name: str) -> str:
    a = square(d)
    n = d.shape_of(a)[-1]
    b = d.array(d.pick([(n,), (n, 2), (2, n, 1), (1, n, 2)]), kind="any")
    return f"{name}({a}, {b})"


@makes("np.linalg.cholesky")
def cholesky(d: Draw, name: str) -> str:
    return f"{name}({hermitian(d)}{d.options(upper='True')})"


@makes("np.linalg.eigh")
def eigh(d: Draw, name: str) -> Block:
    x, w, v = hermitian(d), d.name(), d.name()
    vectors = f"np.abs({v})" if is_complex(d.value(x)) else f"{v} * np.sign({v})"
    return Block(f"{w}, {v} = {name}({x}{d.options(UPLO=repr('U'))})", (w, vectors))


@makes("np.linalg.eigvalsh")
def eigvalsh(d: Draw, name: str) -> str:
    return f"{name}({hermitian(d)}{d.options(UPLO=repr('U'))})"


def spread(d: Draw) -> str:
    """Return an expression for a matrix with real eigenvalues far apart."""
    n = d.integer(1, 3)
    return f"(0.1 * np.tanh({d.array((n, n))}) + np.diag([1.0, 4.0, 9.0][:{n}]))"


@makes("np.linalg.eigvals")
def eigvals(d: Draw, name: str) -> str:
    return f"{name}({spread(d)})"


@makes("np.linalg.eig")
def eig(d: Draw, name: str) -> Block:
    w, v = d.name(), d.name()
    return Block(f"{w}, {v} = {name}({spread(d)})", (w, f"np.abs({v})"))


@makes("np.linalg.svd")
def svd(d: Draw, name: str) -> str | Block:
    x = tall(d)
    if d.chance(0.3):
        return f"{name}({x}, compute_uv=False)"
    u, s, v = d.name(), d.name(), d.name()
    text = f"{u}, {s}, {v} = {name}({x}, full_matrices=False)"
    return Block(text, (s, f"np.abs({u})", f"np.abs({v})", f"{u} @ {v}"))


@makes("np.linalg.svdvals")
def svdvals(d: Draw, name: str) -> str:
    return f"{name}({tall(d)})"


@makes("np.linalg.pinv")
def pinv(d: Draw, name: str) -> str:
    return f"{name}({tall(d)})"


@makes("np.linalg.qr")
def qr(d: Draw, name: str) -> str:
    x = tall(d)
    return f"{name}({x}, 'r')" if d.chance(0.3) else f"{name}({x})"


@makes("np.linalg.matrix_power")
def matrix_power(d: Draw, name: str) -> str:
    return f"{name}({square(d)}, {d.integer(-2, 3)})"


@makes("np.linalg.multi_dot")
def multi_dot(d: Draw, name: str) -> str:
    k, m, n = d.integer(1, 3), d.integer(1, 3), d.integer(1, 3)
    shapes = d.pick(
        [[(k, m), (m, n)], [(k, m), (m, n), (n, 2)], [(k,), (k, m), (m,)], [(k,), (k, m)]]
    )
    return f"{name}([{', '.join(d.array(s, kind='any') for s in shapes)}])"


@makes("np.linalg.lstsq")
def lstsq(d: Draw, name: str) -> Block:
    a = tall(d, single=True)
    m = d.shape_of(a)[0]
    b, t = d.array(d.pick([(m,), (m, 2)])), d.name("t")
    return Block(f"{t} = {name}({a}, {b}, None)", (f"{t}[0]", f"{t}[3]", f"np.sum({t}[1])"))


def regular_tensor(d: Draw, m: int, n: int) -> str:
    """Return an expression for a tensor that is a regular matrix, two of its axes taken as one."""
    shape = (m, n, m * n)
    return f"{d.array(shape)} + np.reshape(3.0 * np.eye({m * n}), {shape})"


@makes("np.linalg.tensorinv")
def tensorinv(d: Draw, name: str) -> str:
    m, n = d.pick([(1, 2), (2, 1), (1, 3)])
    return f"{name}({regular_tensor(d, m, n)}, ind=2)"


@makes("np.linalg.tensorsolve")
def tensorsolve(d: Draw, name: str) -> str:
    m, n = d.pick([(1, 2), (2, 1), (2, 2)])
    return f"{name}({regular_tensor(d, m, n)}, {d.array((m, n))})"


@makes("np.linalg.norm")
def norm(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    vector = d.pick([None, 1, 2, 3, 1.5, "np.inf", "-np.inf", -1])
    matrix = d.pick([None, "'fro'", "'nuc'", 1, -1, 2, -2, "np.inf", "-np.inf"])
    axis = d.axis(x, none=False, many=False)
    ways = [f"{name}({x})", f"{name}({x}, ord={vector}, axis={axis}{d.options(keepdims='True')})"]
    if d.ndim(x) == 2:
        ways += [f"{name}({x}, {matrix})", f"{name}({x}, {matrix})"]
    if d.ndim(x) == 3:
        axes = d.pick([(0, 2), (-1, 1), (1, 0)])
        ways.append(f"{name}({x}, {matrix}, axis={axes}{d.options(keepdims='True')})")
    return str(d.pick(ways))


@makes("np.linalg.vector_norm")
def vector_norm(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    order = d.pick([1, 2, 3, "np.inf"])
    return f"{name}({x}{d.options(axis=d.axis(x), ord=order, keepdims='True')})"


@makes("np.linalg.matrix_norm")
def matrix_norm(d: Draw, name: str) -> str:
    order = d.pick(["'fro'", "'nuc'", 1, 2, "np.inf"])
    return f"{name}({tall(d)}{d.options(ord=order, keepdims='True')})"
