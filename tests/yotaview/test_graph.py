"""Loops, calls and statements as boxes of the graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import yota
from tests.yotaview.loops import (
    LOOPS,
    calls,
    check_columns,
    comprehension,
    graph_of,
    late_start,
    nested,
    outline_of,
    several_lines,
    simple_loop,
    triangular,
    two_statements,
)
from tests.yotaview.screen_text import mlp_session
from tests.zoo import SMOOTH
from yotaview.model.outline import WAYS, Outline
from yotaview.model.repeats import find_repeats
from yotaview.model.single import session_of


@pytest.mark.parametrize("by", ["line", "function"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_one_box_that_knows_how_often_it_runs(name, by):
    f, counts = LOOPS[name]
    roots = outline_of(f, by=by).roots()
    assert [n.count for n in roots if n.kind == "loop"] == counts
    assert roots[-1].label.startswith("return ")


def test_a_loop_is_labelled_with_its_statement_or_its_header():
    assert outline_of(simple_loop).roots()[0].label == "x = np.tanh(w @ x + 1.0)"
    assert outline_of(two_statements).roots()[0].label == "for k in range(12)"


def test_a_nested_loop_is_found_inside_an_iteration():
    outline = outline_of(nested)
    loop = outline.roots()[0]
    first = outline.children(loop)[0]
    assert first.number == 1
    assert [(n.kind, n.count) for n in outline.children(first)] == [("loop", 3), ("statement", 1)]


def test_an_inner_loop_may_run_any_number_of_times():
    outline = outline_of(triangular)
    loop = next(n for n in outline.roots() if n.kind == "loop")
    inner = [c for it in outline.children(loop) for c in outline.children(it)]
    assert [c.count for c in inner if c.kind == "loop"] == [2, 3, 4, 5, 6]


def test_a_first_iteration_that_differs_is_not_counted():
    roots = outline_of(late_start).roots()
    assert [n.count for n in roots if n.kind == "loop"] == [9]


def test_a_comprehension_stays_inside_its_statement():
    outline = outline_of(comprehension)
    (statement,) = outline.roots()
    assert statement.label.startswith("return 1.0 + sum(")
    assert [n.count for n in outline.children(statement) if n.kind == "loop"] == [4]


def test_a_statement_of_several_lines_is_one_box():
    roots = outline_of(several_lines).roots()
    assert [n.label for n in roots] == [
        "y = np.sin(w @ x + 1.0)",
        "return np.sum(y)",
    ]


# lutzroeder/netron#1554: nested boxes are a choice, and what is folded is found all the same
def test_calls_of_a_function_are_boxes_by_function_and_lines_by_line():
    repeat, last = (n.label for n in outline_of(calls).roots())
    assert repeat.startswith("y = w @ x …")
    assert last == "return np.sum(a * b)"
    outline = outline_of(calls, by="function")
    roots = outline.roots()
    assert [n.label for n in roots[:2]] == ["a = helper(w, x)", "b = helper(w, a)"]
    assert [n.label for n in outline.children(roots[0])] == ["y = w @ x", "return np.tanh(y)"]


# mert-kurttutan/torchview#97, jax-ml/jax#5159: the user's names
def test_values_carry_the_names_of_the_users_variables():
    session = mlp_session()
    outline = Outline(session.tape, session.capture.sources)
    names = {n for v in outline.calls if (n := outline.name(v))}
    assert names == {"h", "p", "ll"}
    outline = outline_of(calls)
    found = {outline.name(v) for v in outline.calls}
    assert {"a", "b"} <= found


@given(st.lists(st.integers(0, 2), max_size=40))
def test_repeats_are_true_and_lie_apart(keys):
    end = 0
    for repeat in find_repeats(keys, lambda *_: True, lambda k: (0,)):
        assert repeat.begins[0] >= end
        assert repeat.count >= 2
        ends = (*repeat.begins[1:], repeat.end)
        parts = [keys[a:b] for a, b in zip(repeat.begins, ends, strict=True)]
        assert all(set(p) == set(parts[0]) for p in parts)
        end = repeat.end
    assert end <= len(keys)


@pytest.mark.parametrize("count", [2, 3, 7, 100])
@pytest.mark.parametrize("body", [[1], [1, 2], [1, 2, 2, 3], [1, 1, 2, 1, 1, 3]])
def test_repeats_are_counted_right(body, count):
    (repeat,) = find_repeats([9, *body * count, 8], lambda *_: True, lambda k: (0,))
    ends = (1, 1 + len(body) * count)
    assert (repeat.begins[0], repeat.end) == ends
    assert repeat.count == count


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c[0])
def test_every_adjoint_op_stands_under_its_twin(case, by):
    """Each op is in one box whatever is folded, and a reverse op in that of its forward op."""
    _, f, args = case
    session = session_of(yota.gradtape(f, *args))
    boxes = graph_of(session, by)
    for _ in range(3):
        check_columns(session, boxes)
        inner = (n for n in boxes.nodes if boxes.outline.children(n))
        node = next(inner, None)
        boxes = boxes if node is None else boxes.opened_with(node)
