"""Linear algebra where it is delicate: singular, repeated, rank-deficient, complex."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.test_edges import slope

Array = Any
W = np.random.default_rng(5).normal(size=(3, 3))


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_det_at_singular_matrices_has_the_cofactors(rank: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 3)) if rank else np.zeros((3, 3))
    want = np.array([
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ])  # fmt: skip
    np.testing.assert_allclose(slope(np.linalg.det, a), want, atol=1e-12)


def test_second_derivative_of_det_at_0_and_1() -> None:
    def corner(a: Array) -> Array:
        return yota.grad(np.linalg.det, a)[1][0][0, 0]

    for a in (np.zeros((2, 2)), np.eye(2)):
        np.testing.assert_allclose(slope(corner, a), [[0, 0], [0, 1]], atol=1e-12)


def test_third_derivative_of_det_of_a_regular_matrix() -> None:
    def second(a: Array) -> Array:
        return yota.grad(lambda b: yota.grad(np.linalg.det, b)[1][0][0, 0], a)[1][0][1, 1]

    a = np.diag([2.0, 3.0, 4.0])
    np.testing.assert_allclose(slope(second, a), np.diag([0.0, 0.0, 1.0]), atol=1e-12)


def test_slogdet_slope_is_the_inverse() -> None:
    a = np.array([[2.0, 1.0], [0.5, -3.0]])
    got = slope(lambda a: np.linalg.slogdet(a)[1], a)
    np.testing.assert_allclose(got, np.linalg.inv(a).T)


# ---- repeated values


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), 12 * np.eye(3)),
        (lambda a: np.sum(np.linalg.eigh(a)[0] ** 3), 12 * np.eye(3)),
        (lambda a: np.real(np.sum(np.linalg.eigvals(a) ** 3)), 12 * np.eye(3)),
        (lambda a: np.real(np.sum(np.linalg.eig(a)[0] ** 3)), 12 * np.eye(3)),
        (lambda a: np.sum(np.linalg.svd(a)[1] ** 3), 12 * np.eye(3)),
        (lambda a: np.sum(np.linalg.svdvals(a) ** 3), 12 * np.eye(3)),
        (lambda a: np.linalg.norm(a, "nuc"), np.eye(3)),
    ],
)
def test_equal_values_have_a_slope(f: Any, want: Array) -> None:
    np.testing.assert_allclose(slope(f, 2 * np.eye(3)), want)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(W * np.linalg.eigh(a)[1]),
        lambda a: np.sum(W * (np.linalg.eigh(a)[1] * np.linalg.eigh(a)[0] ** 2) @ W),
        lambda a: np.real(np.sum(W * np.linalg.eig(a)[1])),
        lambda a: np.sum(W * np.linalg.svd(a)[0]),
        lambda a: np.sum(W * np.linalg.svd(a)[2]),
    ],
)
@pytest.mark.parametrize("a", [np.eye(3), np.diag([1.0, 1.0 + 1e-15, 3.0])])
def test_vectors_of_equal_values_are_refused(f: Any, a: Array) -> None:
    with pytest.raises(yota.RuleError, match="up to a rotation") as caught:
        yota.grad(f, a)
    assert "test_spectra.py" in caught.value.__notes__[0]


def test_a_square_of_a_matrix_by_its_equal_eigenvalues_is_refused_not_wrong() -> None:
    """The slope is W + W', of which the formula without a rotation knows the diagonal alone."""

    def f(a: Array) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(W * ((v * w**2) @ v.T))

    with pytest.raises(yota.RuleError):
        yota.grad(f, np.eye(3))
    a = np.diag([1.0, 2.0, 4.0])
    got = slope(lambda a: f((a + a.T) / 2), a)
    np.testing.assert_allclose(got, (W + W.T) @ a / 2 + a @ (W + W.T) / 2)


def test_vectors_of_other_values_than_the_equal_ones_are_known() -> None:
    a = np.diag([1.0, 1.0, 4.0])
    g = slope(lambda a: np.linalg.eigh((a + a.T) / 2)[1][0, 2], a)
    assert np.all(np.isfinite(g))
    np.testing.assert_allclose(np.abs(g[0, 2]), 1 / 6)


def test_a_replay_of_vectors_whose_values_became_equal_is_an_error() -> None:
    tape = yota.gradtape(lambda a: np.sum(W * np.linalg.eigh(a)[1]), np.diag([1.0, 2.0, 4.0]))
    with pytest.raises(yota.GuardError):
        tape.play(np.eye(3))


# ---- vectors beyond the shorter side


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_full_svd_of_an_oblong_matrix(shape: tuple[int, int]) -> None:
    a = np.random.default_rng(1).normal(size=shape)

    def f(a: Array) -> Any:
        u, s, vh = np.linalg.svd(a)
        return np.sum(W[:2, 0] * s) + np.sum(u[:, :2] ** 3) + np.sum(vh[:2] ** 3)

    def thin(a: Array) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(W[:2, 0] * s) + np.sum(u**3) + np.sum(vh**3)

    np.testing.assert_allclose(slope(f, a), slope(thin, a))
    yota.check_grads(f, a, order=2)
    spare = 0 if shape[0] > shape[1] else 2
    with pytest.raises(yota.RuleError, match="beyond the shorter side"):
        yota.grad(lambda a: np.sum(np.linalg.svd(a)[spare] ** 3), a)


def test_complete_qr() -> None:
    a = np.random.default_rng(1).normal(size=(4, 2))

    def f(a: Array) -> Any:
        q, r = np.linalg.qr(a, "complete")
        return np.sum(q[:, :2] ** 3) + np.sum(r**3)

    yota.check_grads(f, a, order=2)
    yota.check_grads(lambda a: np.sum(np.linalg.qr(a, "complete")[0] ** 3), a.T)
    with pytest.raises(yota.RuleError, match="beyond the shorter side"):
        yota.grad(lambda a: np.sum(np.linalg.qr(a, "complete")[0] ** 3), a)
    with pytest.raises(yota.RuleError, match="'raw'"):
        yota.grad(lambda a: np.sum(np.linalg.qr(a, "raw")[0]), a)


def test_vectors_of_the_singular_value_0_are_refused_beside_a_longer_side() -> None:
    a = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    with pytest.raises(yota.RuleError, match="singular value 0"):
        yota.grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0]), a)
    g = slope(lambda a: np.linalg.svd(a, full_matrices=False)[0][0, 0], a)
    assert np.all(np.isfinite(g))


# ---- complex vectors


@pytest.mark.parametrize(
    "f",
    [lambda a: np.linalg.eigh(a)[1], lambda a: np.linalg.svd(a)[0], lambda a: np.linalg.svd(a)[2]],
)
def test_the_phase_of_a_complex_vector_is_refused(f: Any) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    with pytest.raises(yota.RuleError, match="phase"):
        yota.grad(lambda a: np.real(np.sum(W * f(a))), a)


def test_complex_svd_of_a_gauge_invariant_function() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    w = rng.normal(size=(3, 2))

    def f(a: Array) -> Array:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(w * np.abs((u * s**2) @ vh) ** 2)

    yota.check_grads(f, a)


def test_complex_eigh_of_a_gauge_invariant_function() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    w = rng.normal(size=(3, 3))

    def f(a: Array) -> Array:
        e, v = np.linalg.eigh(a + np.conj(a.T))
        return np.sum(w * np.abs((v * e**3) @ np.conj(v.T)) ** 2)

    yota.check_grads(f, a)


@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_complex_qr(mode: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))

    def f(a: Array) -> Array:
        r = np.linalg.qr(a, mode)
        return np.sum(np.abs(r if mode == "r" else r[0]) ** 3)

    yota.check_grads(f, a)


def test_complex_eig_keeps_the_largest_component_real() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    yota.check_grads(lambda a: np.real(np.sum(W * np.linalg.eig(a)[1])), a, order=2, rtol=1e-4)


# ---- rank


def test_least_squares_and_pseudo_inverse_of_constant_rank() -> None:
    """Along a product of thin factors the rank does not change."""
    rng = np.random.default_rng(2)
    b, c, rhs = rng.normal(size=(4, 2)), rng.normal(size=(2, 3)), rng.normal(size=4)
    yota.check_grads(lambda b, c: np.sum(W[0] * np.linalg.lstsq(b @ c, rhs, None)[0]), b, c)
    yota.check_grads(lambda b, c: np.sum(W[0] * (np.linalg.pinv(b @ c, 1e-15) @ rhs)), b, c)


def test_cond_of_a_singular_matrix_is_not_finite() -> None:
    g = yota.grad(lambda a: np.linalg.cond(a), np.array([[1.0, 2.0], [2.0, 4.0]]))[1][0]
    assert np.all(np.abs(g) > 1e12) or not np.all(np.isfinite(g))


@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "pinv", "eigvalsh", "svd", "cholesky"])
def test_empty_stacks_of_matrices(name: str) -> None:
    def f(a: Array) -> Any:
        y = getattr(np.linalg, name)(a)
        return np.sum(y[1] if isinstance(y, tuple) else y)

    assert slope(f, np.ones((0, 2, 2))).shape == (0, 2, 2)
