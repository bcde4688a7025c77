"""Steps, stops and watches: the way back is the way onward reversed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.yotaview.scripts import LOOP, opened
from tests.yotaview.travelled import TAPES, broken, session
from yota.tape import Var
from yotaview.model.breaks import parse_break
from yotaview.model.expressions import ExpressionError
from yotaview.model.hits import find_breaks, hits_of
from yotaview.model.moves import INVERSE, Folds, take_steps
from yotaview.model.parts import gains_of, part_name
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.stops import Search, fenced
from yotaview.model.watches import changes, read_watch
from yotaview.widgets.state import Derived

SPECS = (
    "%5", "op:multiply", "op:add", "fn:scaled", "fn:loop", "line:{line}", "{file}:{line}", "nan",
    "inf", "norm>2", "max<0.5", "shape", "shape:(2,)", "shape:()", "expr:np.ptp(x)>0.5",
    "op:multiply if norm>1", "%5 if nan", "line:{line} if x.any()",
)  # fmt: skip


WATCHES = ("%1", "δ%1", "d%2", "%1 + %2", "np.sum(δ%1)", "B0")


def written(spec: str, found: Session) -> str:
    frame = next(op.origin.frames[0] for _, op in found.tape if op.origin.frames)
    lines = sorted({op.origin.frames[0].line for _, op in found.tape if op.origin.frames})
    return spec.format(line=lines[len(lines) // 2], file=Path(frame.file).name)


def walk(found: Session, *, forward: bool) -> list[int]:
    """Return where `c` or `C` stops from one end to the other, without the fence."""
    found.move(found.stepper.first() if forward else found.stepper.last())
    places = []
    while True:
        search = Search(found, forward=forward)
        assert search.run()
        if search.stop is None:
            return places
        places.append(search.stop.index)
        found.move(found.stepper.to(search.stop.index))


def stops_from_before_the_first_op(found: Session) -> set[Var]:
    """Return the ops at which `c` would stop, the first op too, which no run leads to."""
    search, stops, start = Search(found, forward=True), set(), -1
    while True:
        search.start = start
        assert search.run()
        if search.stop is None:
            return stops
        start = search.stop.index
        stops.add(found.stepper.order[start])
        search = Search(found, forward=True)


def between(places: list[int], count: int) -> list[int]:
    """Leave out both ends: a run begins at one of them."""
    return [p for p in places if 0 < p < count - 1]


@pytest.mark.parametrize("name", TAPES)
@pytest.mark.parametrize("spec", SPECS)
def test_stops_back_are_the_reverse_of_stops_onward_for_each_breakpoint(name, spec):
    found = session(name)
    found.break_at(written(spec, found))
    onward, back = walk(found, forward=True), walk(found, forward=False)
    count = len(found.stepper)
    assert between(onward, count) == between(back, count)[::-1]
    own = find_breaks(written(spec, found), found)
    alarms = {a.var for a in found.alarms}
    assert stops_from_before_the_first_op(found) == own | alarms


@pytest.mark.parametrize("name", TAPES)
@pytest.mark.parametrize("text", WATCHES)
def test_stops_back_are_the_reverse_of_stops_onward_for_each_watch(name, text):
    found = session(name)
    if text == "B0" and not found.program.plan().buffers:
        with pytest.raises(ExpressionError, match="no buffer B0"):
            found.stops.add_watch(text, found)
        return
    if "%2" in text and text != "%1 + %2" and Var(2) not in found.tape.cotangents:
        with pytest.raises(ExpressionError, match="no cotangent of %2"):
            found.stops.add_watch(text, found)
        return
    entry = found.stops.add_watch(text, found)
    onward, back = walk(found, forward=True), walk(found, forward=False)
    count = len(found.stepper)
    assert between(onward, count) == between(back, count)[::-1]
    assert {c.index for c in changes(found.opened, entry.watch)} <= {0, *onward}


@given(
    st.sampled_from(list(TAPES)),
    st.lists(st.sampled_from(SPECS), min_size=1, max_size=3),
    st.integers(1, 4),
)
@settings(max_examples=40, deadline=None)
def test_counted_stops_lead_where_as_many_single_ones_do(name, specs, count):
    found = session(name)
    for spec in specs:
        found.break_at(written(spec, found))
    for forward in (True, False):
        start = found.stepper.first() if forward else found.stepper.last()
        found.move(start)
        counted = Search(found, forward=forward, count=count)
        counted.run()
        last = None
        for _ in range(count):
            single = Search(found, forward=forward)
            single.run()
            if single.stop is None:
                break
            last = single.stop.index
            found.move(found.stepper.to(last))
        assert (counted.stop.index if counted.stop else None) == last


@lru_cache(maxsize=8)
def folds_of(name: str) -> Folds:
    return Folds(Derived(session(name)).timeline)


@given(
    st.sampled_from(list(TAPES)),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(list(INVERSE.values())), st.integers(1, 5)), max_size=6),
    st.lists(st.tuples(st.sampled_from(list(INVERSE.values())), st.integers(1, 9)), max_size=8),
    st.integers(0, 60),
)
@settings(max_examples=150, deadline=None)
def test_steps_back_are_inverse_to_steps_onward_with_counts(name, folded, before, moves, start):
    found, folds = session(name), folds_of(name) if folded else None
    found.move(found.stepper.to(start))
    for action, count in before:
        take_steps(found, action, count, folds=folds)
    back = {on: off for off, on in INVERSE.items()}
    visited = []
    for action, count in moves:
        here = found.stepper
        take_steps(found, action, count, folds=folds)
        if found.stepper != here:
            visited.append((action, count, here))
    for action, count, here in reversed(visited):
        take_steps(found, back[action], count, folds=folds)
        assert found.stepper == here


@given(st.sampled_from(list(TAPES)), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_parts_walk_back_without_a_memory(name, count):
    found = session(name)
    visited = [found.stepper]
    for _ in range(count):
        take_steps(found, "into")
        if found.stepper == visited[-1]:
            break
        visited.append(found.stepper)
    found.trail.steps.clear()
    for there in visited[-2::-1]:
        take_steps(found, "back_into")
        found.trail.steps.clear()
        assert (found.stepper.index, found.stepper.todo) == (there.index, there.todo)


def test_parts_of_an_op_are_read_compute_write_and_what_that_completes():
    found = session("network")
    primal = found.tape.inputs[0]
    terms = found.opened.terms[primal]
    assert len(terms) > 1
    total = sum(found.recorded(t.var) for t in terms)
    np.testing.assert_allclose(total, found.recorded(terms[-1].total), rtol=1e-12)
    index = found.stepper.positions[terms[-1].total]
    found.move(found.stepper.to(index - 1))
    names, known = [], []
    for _ in range(4):
        take_steps(found, "into")
        names.append(part_name(found.opened, found.stepper))
        known.append(found.is_known(terms[-1].total))
    assert names == ["read", "compute", "write", "accumulate"]
    assert known == [False, False, True, True]
    assert found.stepper.index == index
    gain = next(g for g in gains_of(found.opened, terms[-1].total) if g.primal == primal)
    assert (gain.number, gain.count, gain.complete) == (len(terms), len(terms), True)
    take_steps(found, "next")
    assert found.stepper.index == index + 1 or found.stepper.index == len(found.stepper) - 1


def test_whole_op_goes_on_from_a_part():
    found = session("network")
    found.jump("8")
    take_steps(found, "into")
    assert (found.stepper.index, found.stepper.todo) == (8, 3)
    take_steps(found, "next")
    assert (found.stepper.index, found.stepper.todo) == (8, 0)
    take_steps(found, "previous")
    assert (found.stepper.index, found.stepper.todo) == (8, 3)


def test_line_and_function_are_met_once_for_each_run_in_either_pass():
    found = session("loop")
    line = next(
        op.origin.frames[0].line for _, op in found.tape if getattr(op, "name", "") == "sin"
    )
    stops = find_breaks(f"line:{line}", found)
    forward = [v for v in stops if not found.tape.is_reverse(v)]
    assert (len(forward), len(stops) - len(forward)) == (6, 6)
    found = session("helped")
    stops = find_breaks("fn:scaled", found)
    assert sum(not found.tape.is_reverse(v) for v in stops) == 2


def test_shape_stops_where_no_operand_has_the_shape_of_the_value():
    found = session("network")
    tape = found.tape
    for var, op in tape:
        operands = getattr(op, "operands", [])
        new = bool(operands) and all(tape[v].spec.shape != op.spec.shape for v in operands)
        assert (var in find_breaks("shape", found)) is new
    assert find_breaks("shape:(8,4)", found) == {v for v, op in tape if op.spec.shape == (8, 4)}


def test_nan_and_infinity_are_told_apart():
    found = session("broken")
    for spec, test in (("nan", np.isnan), ("inf", np.isinf)):
        held = {v for v, x in found.opened.values.items() if np.any(test(x))}
        assert held
        assert find_breaks(spec, found) == held


def test_user_function_is_never_run_by_a_breakpoint_or_watch():
    ran = []

    @yota.primitive
    def cube(x):
        ran.append(x)
        return x**3

    yota.defvjp(cube, lambda dy, y, x: dy * 3 * x**2)
    found = session_of(yota.gradtape(lambda x: np.sum(cube(x)), np.ones(3)))
    count = len(ran)
    assert find_breaks("fn:cube", found)
    assert find_breaks("expr:x.sum() == 3", found)
    for text in ("cube(%1)", "np.cube(%1)"):
        with pytest.raises(ExpressionError, match="no function"):
            found.stops.add_watch(text, found)
    found.stops.add_watch("%2", found)
    walk(found, forward=True)
    assert len(ran) == count


def test_seed_is_a_fence_on_the_way_back():
    found = session("network")
    seed = found.stepper.positions[found.tape.reverse_start]
    found.move(found.stepper.last())
    assert fenced(found, 3) == seed
    assert fenced(found, seed + 1) is None
    found.move(found.stepper.to(seed))
    assert fenced(found, 3) is None


def test_hits_are_counted_up_to_the_position_both_ways(tmp_path: Path) -> None:
    found = opened(tmp_path, LOOP.format(count=3))
    found.break_at("op:multiply")
    found.break_at("norm>0")
    texts = [e.text for e in found.stops.breaks(0)]
    found.open_call(1)
    assert [e.text for e in found.stops.breaks(0)] == texts
    assert found.breakpoints
    found.stops.switch(found.stops.breaks(0)[0])
    found.stops.remove(found.stops.breaks(0)[1])
    assert found.breakpoints == set()


def test_search_can_be_given_up_and_taken_on():
    found = session("loop")
    found.break_at("expr:x.sum() > 1e300")
    search = Search(found, forward=True)
    assert not search.run(-1.0)
    assert search.asked == 1
    assert search.run()
    assert search.stop is None
    assert search.asked == len(found.stepper) - 1


def test_watch_shows_nothing_of_what_lies_ahead():
    found = session("network")
    entry = found.stops.add_watch("np.ptp(%6)", found)
    index = found.stepper.positions[Var(6)]
    assert read_watch(found.opened, entry.watch, index - 1).problem == "not computed yet (op 6)"
    reading = read_watch(found.opened, entry.watch, index)
    assert reading.value == np.ptp(found.recorded(Var(6)))


def test_watched_cotangent_is_the_sum_so_far():
    found = session("network")
    primal = found.tape.inputs[0]
    entry = found.stops.add_watch(f"d{primal}", found)
    terms = found.opened.terms[primal]
    found_changes = changes(found.opened, entry.watch)
    assert len(found_changes) == len(terms) > 0
    for k, change in enumerate(found_changes, 1):
        reading = read_watch(found.opened, entry.watch, change.index)
        assert reading.note == f"{k} of {len(terms)} contributions"
        np.testing.assert_allclose(reading.value, sum(found.recorded(t.var) for t in terms[:k]))


def test_watched_buffer_stops_where_it_is_overwritten():
    found = session("network")
    entry = found.stops.add_watch("B0", found)
    texts = [c.text for c in changes(found.opened, entry.watch)]
    assert texts[0].startswith("B0 first holds %")
    held = found.opened.occupants().written_by(0)
    assert len(texts) == len({found.opened.occupants().places[v] for v in held})
    assert all("overwritten by %" in t for t in texts[1:])


def test_marks_come_back_to_another_call(tmp_path: Path) -> None:
    found = opened(tmp_path, LOOP.format(count=4))
    found.goto(Var(4))
    found.marks["a"] = found.place
    found.open_call(1)
    found.goto(Var(2))
    found.visit(found.marks["a"])
    assert (found.call.number, found.at) == (4, Var(4))  # type: ignore[union-attr]  # one is open
    assert found.back_in_history()
    assert (found.call.number, found.at) == (1, Var(2))  # type: ignore[union-attr]  # one is open


def test_marks_are_made_anew_only_where_a_hit_was_found_since():
    found = session("network")
    found.break_at("op:multiply")
    before = found.breakpoints
    assert before
    assert found.breakpoints is before
    found.break_at("%1")
    assert found.breakpoints == before | {Var(1)}


def test_asking_for_hits_in_two_threads_passes_over_no_place():
    found = session("loop")
    hits = hits_of(found.opened, parse_break("norm>0"))
    asked, holds = [], hits.holds

    def both(index: int) -> bool:
        if len(asked) < 3:  # meanwhile another thread asks the same place
            asked.append(index)
            hits.look(0.0)
        return holds(index)

    hits.holds = both  # type: ignore[method-assign]
    assert hits.look(10.0)
    assert set(hits.answers) == set(hits.places)


def test_condition_on_a_line_or_function_is_asked_of_each_of_its_ops():
    session = session_of(yota.gradtape(broken, np.array([-1.0, 2.0])))
    nan = find_breaks("nan", session)
    line = broken.__code__.co_firstlineno + 1
    assert nan
    assert find_breaks(f"line:{line} if nan", session) == nan
    assert find_breaks("fn:broken if nan", session) == nan
