"""What goes into a function and comes out of it, in every container, and what is refused."""

from __future__ import annotations

import collections
import fractions
import types

import numpy as np
import pytest

import yota

X = np.array([1.0, 2.0])
Space = types.SimpleNamespace
Pair = collections.namedtuple("Pair", "p q")


def test_namespaces_and_deques_are_followed():
    assert yota.grad(lambda n: n.a * n.b, Space(a=2.0, b=3.0))[1][0] == Space(a=3.0, b=2.0)
    row = collections.deque([2.0, 3.0], maxlen=5)
    value, g = yota.grad(lambda d: d[0] * d[1] * d.maxlen, row)
    assert (value, list(g[0])) == (30.0, [15.0, 10.0])
    tape = yota.gradtape(lambda n, d: n.a * d[1], Space(a=2.0), row)
    plain = yota.simplegrad(lambda n, d: n.a * d[1], Space(a=2.0), row)
    for run in (tape.play, tape.compile(), tape.compile(form="bound")):
        value, (dn, dd) = run(Space(a=2.0), row)
        assert (value, dn.a, list(dd)) == (6.0, 3.0, [0.0, 2.0])
    assert list(plain(Space(a=2.0), row)[2]) == [0.0, 2.0]
    y, pullback = yota.vjp(lambda a: Space(a=a * 2), X)
    assert type(y.a) is np.ndarray
    assert pullback(Space(a=np.ones(2)))[0].tolist() == [2.0, 2.0]
    assert yota.jacobian(lambda a: Space(k=a))(X).k.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert yota.hvp(lambda p: p.a**2)(Space(a=2.0), Space(a=1.0)).a == 2.0
    inner = lambda a: yota.grad(lambda n: n.a**2, Space(a=a))[1][0].a
    assert yota.grad(inner, 3.0)[1][0] == 2.0


@pytest.mark.parametrize("argument", [{1.5}, frozenset({1.5}), types.MappingProxyType({"a": 1.5})])
def test_floats_where_they_cannot_be_told_apart_are_refused(argument):
    with pytest.raises(yota.TraceError, match="pass a list, tuple, dict"):
        yota.grad(lambda x, s: x * x, 2.0, argument)


@pytest.mark.parametrize(
    "wrap", [lambda a: {a[0]}, lambda a: ValueError(a), lambda a: slice(a[0]), lambda a: iter([a])]
)
def test_nothing_that_is_handed_out_holds_a_traced_value(wrap):
    with pytest.raises(yota.TraceError, match="return tuples, lists"):
        yota.grad(lambda a: (np.sum(a), wrap(a)), X, has_aux=True)
    with pytest.raises(yota.TraceError, match="return tuples, lists"):
        yota.vjp(lambda a: wrap(a), X)


def test_numbers_of_other_kinds_are_fixed_values():
    third = fractions.Fraction(1, 3)
    value, g = yota.grad(lambda x, f: x * float(f), 3.0, third)
    assert (value, g[1]) == (1.0, None)


def test_sequences_of_any_kind_reach_numpys_functions():
    f = lambda a: np.sum(np.concatenate(Pair(a, a * 2)) ** 2) + np.sum(np.stack([a, a * 2]))
    yota.check_grads(f, X)
    for g in (
        lambda a: a.dot([3.0, 4.0]),
        lambda a: np.dot([3.0, 4.0], a),
        lambda a: np.vdot([1.0, 2.0], a) + np.inner((1.0, 2.0), a),
        lambda a: np.sum([1.0, 2.0] @ np.outer(a, [2.0, 3.0])),
        lambda a: np.sum(np.arctan2([1.0, 2.0], a) + np.power(a, [2.0, 3.0])),
        lambda a: np.sum(np.add(a, [a[0], 1.0])),
    ):
        assert yota.grad(g, X)[0] == g(X) if g is not None else True
        yota.check_grads(g, X)


def test_conj_of_a_real_array_is_the_array_itself():
    def f(a):
        b = a * 1
        b.conj()[0] = 5.0
        return np.sum(b)

    value, g = yota.grad(f, X)
    assert (value, g[0].tolist()) == (7.0, [0.0, 1.0])


# ---- own primitives


def test_primitives_take_dicts_and_may_not_hide_arrays():
    @yota.primitive
    def from_dict(p):
        return p["a"] * 2

    @yota.primitive
    def to_dict(a):
        return {"u": a * 2}

    yota.defvjp(from_dict, lambda dy, y, p: {"a": dy * 2})
    assert yota.grad(lambda a: np.sum(from_dict({"a": a})), X)[1][0].tolist() == [2.0, 2.0]
    with pytest.raises(yota.TraceError, match="to_dict returned a dict"):
        yota.grad(lambda a: np.sum(to_dict(a)["u"]), X)


def test_a_primitive_may_return_its_operand():
    same = yota.primitive(lambda a: a)
    yota.defvjp(same, lambda dy, y, a: dy)

    def f(a):
        b = same(a * 1)
        b[0] = 7.0
        return np.sum(b * a)

    assert yota.grad(f, X)[0] == 11.0


@pytest.mark.parametrize("rules", [(), (3,)])
def test_defvjp_takes_functions_only(rules):
    with pytest.raises(TypeError, match="defvjp"):
        yota.defvjp(lambda x: x, *rules)
    with pytest.raises(TypeError, match="defvjp"):
        yota.defvjp("exp", lambda dy, y, x: dy)
    with pytest.raises(TypeError, match="primitive"):
        yota.primitive(3)


def test_a_rule_that_returns_no_number_is_named():
    odd = yota.primitive(lambda x: x * 2)
    yota.defvjp(odd, lambda dy, y, x: "s")
    with pytest.raises(yota.RuleError, match="returned 's'"):
        yota.grad(odd, 1.0)


# ---- errors that the function catches itself


def jittered(k):
    try:
        return np.linalg.det(np.linalg.cholesky(k))
    except np.linalg.LinAlgError:
        return np.trace(k)


@pytest.mark.parametrize(
    ("f", "caught", "fine"),
    [
        (jittered, -np.eye(2), 3 * np.eye(2)),
        (lambda a: _inverse(a), 0.0, 1.5),
    ],
)
def test_an_error_that_was_caught_is_guarded(f, caught, fine):
    tape = yota.gradtape(f, caught)
    plain = yota.simplegrad(f, caught)
    for run in (tape.play, tape.compile(), tape.compile(form="bound")):
        assert run(caught)[0] == f(caught)
        with pytest.raises(yota.GuardError):
            run(fine)
    assert plain(caught)[0] == f(caught)
    with pytest.raises(ValueError, match="branch"):
        plain(fine)


def _inverse(a):
    try:
        return 1 / a
    except ZeroDivisionError:
        return a * 5


# ---- replay, seeds, checks


def test_keywords_may_name_positional_arguments_in_a_replay():
    tape = yota.gradtape(lambda a, b: a * b, 2.0, 3.0)
    assert tape.play(a=4.0, b=5.0) == tape.compile()(a=4.0, b=5.0) == (20.0, (5.0, 4.0))


def test_seeds_and_cotangents_of_another_kind_are_refused():
    with pytest.raises(ValueError, match='a seed is "ones"'):
        yota.grad(lambda x: x * 2, X, seed="one")
    _, pullback = yota.vjp(lambda a: {"a": a}, X)
    with pytest.raises(ValueError, match="structure"):
        pullback({"a": X, "b": X})
    _, pullback = yota.vjp(lambda a: (a, a), X)
    with pytest.raises(ValueError, match="structure"):
        pullback(np.ones((2, 2)))


@pytest.mark.parametrize(
    "f",
    [
        lambda wrong, a: 1e-8 * np.sum(wrong(a)),
        lambda wrong, a: wrong(a) * 1j + a,
        lambda wrong, a: Space(k=wrong(a)),
        lambda wrong, a: np.sum(wrong(a)[1:]) + 0.0 * np.sum(a),
    ],
)
def test_check_grads_sees_a_wrong_rule_wherever_it_stands(f):
    wrong = yota.primitive(lambda a: a * a)
    yota.defvjp(wrong, lambda dy, y, a: dy * 6 * a)
    with pytest.raises(AssertionError, match="reverse mode"):
        yota.check_grads(lambda a: f(wrong, a), X)
    with pytest.raises(AssertionError, match="reverse mode"):
        yota.check_grads(lambda n: f(wrong, n.a), Space(a=X))


def test_check_grads_takes_integers_as_grad_does():
    yota.check_grads(lambda a, b: np.sum(a * b), np.array([1, 2]), np.array([3, 4]))


def test_update_rebuilds_what_refuses_to_be_set():
    class Locked:
        def __init__(self, w):
            object.__setattr__(self, "w", w)

        def __setattr__(self, name, value):
            raise RuntimeError("locked")

    new = yota.update(Locked(2.0), Locked(0.5))
    assert new.w == 1.5


def test_arrays_of_objects_are_refused():
    with pytest.raises(yota.TraceError, match="array of objects"):
        yota.grad(lambda x: np.sum((x * np.array([1.0, 2.0], object)).astype(float)), X)
