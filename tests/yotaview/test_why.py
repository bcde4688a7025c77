"""What a number is made of: the terms, that they sum to it, and the way from a gradient back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES, Sample
from tests.yotaview.own import own_multiple
from tests.yotaview.screen_text import MLP, mlp_session
from tests.yotaview.scripts import yotaview
from tests.zoo import SMOOTH
from yota.rules.functional import place, scatter
from yota.tape import Call, Input, Tape, Var, spec_of
from yotaview.capture.functions import name_of
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.why import Element, Explainer, NoElement, Why
from yotaview.model.why.follow import rows_of
from yotaview.model.why.formula import formula
from yotaview.model.why.spec import find_element
from yotaview.render.line import plain
from yotaview.render.why import explainer_of, why_lines

RNG = np.random.default_rng(3)


def tape_over(fn, *args, **kwargs) -> tuple[Explainer, Var, Any]:
    """A tape of one call, its float operands as inputs."""
    tape, values = Tape(), {}

    def lifted(a):
        if isinstance(a, list):
            return [lifted(x) for x in a]
        if not isinstance(a, np.ndarray | np.inexact | float | complex):
            return a
        var = tape.push(Input(name=f"x{len(values)}", spec=spec_of(a)))
        values[var] = a
        return var

    raw = tuple(lifted(a) for a in args)
    named = tuple((k, lifted(v)) for k, v in kwargs.items())
    y = fn(*args, **kwargs)
    var = tape.push(Call(fn=fn, args=raw, kwargs=named, spec=spec_of(y)))
    values[var] = y
    return Explainer(tape, values), var, y


def elements_of(var: Var, y: Any, count: int = 2):
    items = [None] if not isinstance(y, tuple | list) else range(len(y))
    for item in items:
        x = np.asarray(y if item is None else y[item])
        for _ in range(count if x.size and x.dtype.kind in "biufc" else 0):
            yield Element(var, tuple(int(RNG.integers(n)) for n in x.shape), item)


def adds_up(why: Why) -> bool:
    if why.value != why.value:
        return True
    size = float(np.sum([abs(t.value) for t in why.terms])) + abs(why.rest)
    if not np.isfinite(size):
        return True
    eps = (
        float(np.finfo(np.asarray(why.value).dtype).eps)
        if np.asarray(why.value).dtype.kind in "fc"
        else 0
    )
    close = 1e-12 * max(1.0, eps / np.finfo(float).eps)
    return abs(complex(why.total) - complex(why.value)) <= close * size


def test_terms_sum_to_the_element_for_every_function_with_a_rule() -> None:
    kinds: dict[str, int] = {}
    for sample in SAMPLES:
        if name_of(sample.fn) is None:
            continue
        explainer, var, y = explained(sample)
        for element in elements_of(var, y, count=1):
            why = explainer.why(element, limit=3)
            kinds[why.kind] = kinds.get(why.kind, 0) + 1
            assert not why.exact or adds_up(why), (sample.name, why)
            assert why.count >= len(why.terms)
    exact = sum(n for kind, n in kinds.items() if kind not in ("slopes", "unknown"))
    assert exact > 0.8 * sum(kinds.values())


def explained(sample: Sample) -> tuple[Explainer, Var, Any]:
    return tape_over(sample.fn, *sample.args, **sample.kwargs)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH, ids=[s[0] for s in SMOOTH])
def test_terms_sum_to_every_number_of_a_gradient(name, f, args) -> None:
    session = session_of(yota.gradtape(f, *args))
    explainer = explainer_of(session)
    exact = total = 0
    for var in session.tape.ops:
        for element in elements_of(var, session.recorded(var), count=1):
            why = explainer.why(element)
            assert not why.exact or adds_up(why), (var, why)
            for row in rows_of(explainer, why):
                for part in row.parts:
                    if part.element is not None:  # looked through to where it stood unchanged
                        there = explainer.why(part.element).value
                        np.testing.assert_equal(there, part.value)
            exact += why.exact or why.kind == "given"
            total += 1
    assert exact >= 0.75 * total, name


def why_at(fn, *args, at=(), **kwargs) -> Why:
    explainer, var, _ = tape_over(fn, *args, **kwargs)
    return explainer.why(Element(var, at))


def names(why: Why) -> list[tuple[tuple[int, tuple[int, ...]], ...]]:
    return [
        tuple((p.element.var.id, p.element.index) for p in t.parts if p.element) for t in why.terms
    ]


A, B = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 2))


def test_product_of_matrices_is_row_times_column() -> None:
    why = why_at(np.matmul, A, B, at=(1, 0))
    assert sorted(names(why)) == [((1, (1, k)), (2, (k, 0))) for k in range(4)]
    sizes = [abs(t.value) for t in why.terms]
    assert sizes == sorted(sizes, reverse=True)
    assert why.terms[0].form == "{0} × {1}"


@pytest.mark.parametrize(
    ("fn", "args", "at", "count"),
    [
        (np.einsum, ("ij,kj,k->ik", A, A, np.ones(3)), (0, 2), 4),
        (np.einsum, ("ii", np.eye(3)), (), 3),
        (np.tensordot, (A, B, ([1], [0])), (2, 1), 4),
        (np.inner, (A, A), (0, 1), 4),
        (np.dot, (A, B[:, 0]), (2,), 4),
        (np.outer, (A[0], A[1]), (1, 2), 1),
        (np.vdot, (A[0] + 1j, A[1] - 2j), (), 4),
        (np.matmul, (np.ones((5, 1, 2, 3)), np.ones((4, 3, 6))), (1, 2, 0, 3), 3),
    ],
    ids=["einsum", "trace", "tensordot", "inner", "dot", "outer", "vdot", "batched"],
)
def test_contractions_list_each_product(fn, args, at, count) -> None:
    why = why_at(fn, *args, at=at)
    assert (why.kind, why.count) == ("sum", count)
    assert adds_up(why)


@pytest.mark.parametrize(
    ("fn", "args", "at", "source"),
    [
        (np.transpose, (A,), (3, 1), (1, 3)),
        (np.reshape, (A, (2, 6)), (1, 2), (2, 0)),
        (np.flip, (A,), (0, 0), (2, 3)),
        (np.broadcast_to, (A[0], (5, 4)), (4, 2), (2,)),
        (np.take, (A, np.array([2, 0]), 0), (1, 1), (0, 1)),
        (np.repeat, (A, 2), (7,), (0, 3)),
    ],
)
def test_what_moves_elements_names_the_one_moved(fn, args, at, source) -> None:
    why = why_at(fn, *args, at=at)
    assert why.kind == "passed"
    assert names(why) == [((1, source),)]


def test_parts_of_a_list_are_told_apart() -> None:
    why = why_at(np.concatenate, [A, B.T], at=(4, 1))
    assert names(why) == [((2, (1, 1)),)]


def test_a_zero_that_was_put_there_is_said() -> None:
    why = why_at(place, A[0], (slice(0, 4),), (6,), at=(5,))
    assert (why.kind, why.note) == ("passed", "a zero that place put there")
    assert why.terms[0].parts[0].element is None


def test_repeated_indices_are_a_sum() -> None:
    why = why_at(scatter, A[0], (np.array([1, 0, 1, 1]),), (3,), at=(1,))
    assert sorted(names(why)) == [((1, (0,)),), ((1, (2,)),), ((1, (3,)),)]
    assert adds_up(why)


@pytest.mark.parametrize(
    ("fn", "terms"), [(np.nansum, [3.0, 1.0, 0.0]), (np.nanmean, [1.5, 0.5, 0])]
)
def test_nan_that_a_sum_leaves_out_is_shown_as_what_it_is(fn, terms) -> None:
    why = why_at(fn, np.array([1.0, np.nan, 3.0]))
    assert [t.value for t in why.terms] == terms
    assert np.isnan(why.terms[-1].parts[0].value)
    assert why.note == "1 NaN left out"


def test_choices_say_what_was_chosen_and_why() -> None:
    mask = np.array([True, False, True, True])
    why = why_at(np.where, mask, A[0], 0.0, at=(1,))
    assert (why.kind, why.note) == ("chosen", "because the condition is False")
    assert why.terms[0].parts[0].value == 0.0
    largest = why_at(np.max, A)
    assert (largest.kind, largest.note) == ("chosen", "the largest of 12")
    assert names(largest) == [((1, tuple(map(int, np.unravel_index(A.argmax(), A.shape)))),)]
    side = why_at(np.maximum, A, 0.0, at=(0, 0))
    assert side.kind == "chosen"
    assert side.value == max(A[0, 0], 0.0)


def test_linear_functions_have_exact_terms_through_their_slopes() -> None:
    why = why_at(np.linalg.solve, A[:, :3] + 3 * np.eye(3), np.arange(3.0), at=(1,))
    assert why.kind == "sum"
    assert why.note == "slope × element of %2, %1 held"
    assert adds_up(why)


def test_functions_without_exact_terms_say_so_and_give_slopes() -> None:
    why = why_at(np.linalg.inv, np.diag([1.0, 2.0, 4.0]), at=(1, 1))
    assert why.kind == "slopes"
    assert not why.exact
    assert why.terms[0].slope == pytest.approx(-0.25)
    assert names(why)[0] == ((1, (1, 1)),)


def test_what_has_no_derivative_names_all_operands() -> None:
    why = why_at(np.argmax, A[0])
    assert why.kind == "unknown"
    assert why.note == "depends on all of %1; no derivative of argmax says how"


def test_users_functions_are_not_run_to_explain_them() -> None:
    mine, ran = own_multiple(2)
    session = session_of(yota.gradtape(lambda x: np.sum(mine(x)), np.ones(3)))
    before = len(ran)
    why = explainer_of(session).why(Element(Var(2), (1,)))
    assert why.note == "mine is not NumPy's: it is not run"
    assert len(ran) == before


def test_what_is_not_listed_is_summed() -> None:
    x = RNG.standard_normal((64, 64))
    explainer, var, _ = tape_over(np.sum, x)
    why = explainer.why(Element(var), limit=12)
    assert (len(why.terms), why.count) == (12, 4096)
    assert adds_up(why)
    session = session_of(yota.trace(lambda x: np.sum(x), x)[1])
    text = plain(why_lines(session, Element(Var(2)), 100))
    assert "12 of 4,096 shown, the rest sum to " in text
    assert "✓ the element" in text


def test_terms_that_are_not_finite_come_first() -> None:
    why = why_at(np.sum, np.array([5.0, 1.0, np.nan, 2.0]))
    assert np.isnan(why.terms[0].value)


def test_contributions_to_a_cotangent_are_listed_over_all_additions() -> None:
    session = session_of(yota.gradtape(lambda x: np.sum(x * x + np.sin(x) - x**3), np.ones(2)))
    why = explainer_of(session).why(Element(session.tape.cotangents[Var(1)], (1,)))
    assert why.note == "contributions to δ%1"
    assert why.count == 4
    assert adds_up(why)


def test_formula_writes_the_steps_of_a_rule_as_one() -> None:
    session = mlp_session()
    var = next(
        v
        for v, op in session.tape
        if op.origin.wrt == Var(6)
        and op.name == "multiply"
        and v in session.tape.cotangents.values()
    )
    text = formula(session.tape, Element(var, (0, 2)), lambda v: np.shape(session.recorded(v)))
    assert text == "%41[0,2] × (1 − %7[0,2]²)"


@pytest.fixture(scope="module")
def network() -> Session:
    return mlp_session()


@pytest.mark.parametrize(
    ("text", "var", "index"),
    [
        ("%46[0,2]", 46, (0, 2)),
        ("46[0, 2]", 46, (0, 2)),
        ("W1[2,-1]", 1, (2, 3)),
        ("∂W1[0,2]", 49, (0, 2)),
        ("dW1[0,2]", 49, (0, 2)),
        ("δ%6[1,1]", 46, (1, 1)),
        ("%22", 22, ()),
    ],
)
def test_elements_are_written_in_several_ways(network, text, var, index) -> None:
    assert find_element(text, network.tape, network.opened.values) == Element(Var(var), index)


def test_names_that_end_in_brackets_are_names() -> None:
    session = session_of(yota.gradtape(lambda p: np.sum(p[0] * p[1]), [np.ones(3), np.arange(3.0)]))
    assert find_element("p[1][2]", session.tape, session.opened.values) == Element(Var(2), (2,))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%46[9,9]", r"%46 of shape \(8, 4\) has no element \[9, 9\]"),
        ("%46[1]", r"%46 of shape \(8, 4\) has no element \[1\]"),
        ("%99[0]", "no element '%99.0.' on this tape"),
        ("nothing", "names: W1, b1, W2, X, Y"),
    ],
)
def test_what_is_no_element_is_refused(network, text, reason) -> None:
    with pytest.raises(NoElement, match=reason):
        find_element(text, network.tape, network.opened.values)


def test_why_is_printed_by_the_renderer_of_the_screen(tmp_path) -> None:
    done = yotaview("--why", "∂W1[0,2]", "--tape", "1", str(MLP), cwd=tmp_path)
    session = mlp_session()
    element = Element(Var(49), (0, 2))
    assert done.returncode == 0
    assert done.stdout == plain(why_lines(session, element, 110))
    as_json = yotaview("--why", "∂W1[0,2]", "--tape", "1", "--json", str(MLP), cwd=tmp_path)
    found = json.loads(as_json.stdout)
    assert found["value"] == session.recorded(Var(49))[0, 2]
    assert found["exact"]
    assert found["sum"] == pytest.approx(found["value"], rel=1e-12)
    assert sum(t["value"] for t in found["terms"]) == pytest.approx(found["value"], rel=1e-12)
    assert found["terms"][0]["parts"][0]["name"].startswith("X[")


def test_why_of_nothing_is_a_usage_error(tmp_path) -> None:
    done = yotaview("--why", "%46[9,9]", "--tape", "1", str(MLP), cwd=tmp_path)
    assert done.returncode == 2
    assert "has no element [9, 9]" in done.stderr


def test_key_of_a_container_names_its_leaf_where_no_other_ends_so():
    def f(params, other):
        return np.sum(params["W"] * params["b"]) + np.sum(other["b"])

    args = {"W": np.ones(2), "b": np.array([3.0, 4.0])}, {"b": np.ones(2)}
    session = session_of(yota.gradtape(f, *args))
    explain = explainer_of(session)
    dw = find_element("dW[1]", session.tape, session.opened.values)
    assert explain.why(dw).value == 4.0
    assert dw == find_element("dparams['W'][1]", session.tape, session.opened.values)
    with pytest.raises(NoElement):
        find_element("b[1]", session.tape, session.opened.values)


def test_terms_that_are_all_zero_have_no_bars_and_are_said_to_be():
    session = session_of(yota.gradtape(lambda x, w: np.sum(x @ w), np.zeros((2, 3)), np.ones(3)))
    text = plain(why_lines(session, Element(Var(3), (0,)), 100))
    assert "the sum of 3 terms, each 0" in text
    assert "█" not in text
