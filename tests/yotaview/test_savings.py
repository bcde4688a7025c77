import numpy as np
import pytest

from tests.yotaview.screen_text import mlp_session
from tests.yotaview.scripts import EXP, opened
from yota.tape import Call
from yotaview.model.profile import Subject, measure_together
from yotaview.model.savings import Cost, Savings
from yotaview.render.line import plain
from yotaview.render.savings import savings_page


def test_savings_count_the_calls_and_bytes_of_the_program():
    session = mlp_session()
    found = session.savings()
    stages = {s.name: s.tape for s in session.program.stages}
    for cost, stage in zip(found.costs, ("reverse", "cse", "fuse"), strict=True):
        assert cost.calls == sum(isinstance(op, Call) for _, op in stages[stage])
        assert cost.not_run == 0
        assert cost.forward > 0
        assert cost.reverse > 0
    assert found.recorded.calls - found.with_cse.calls == 1
    assert (found.shared, found.unshared) == (
        session.program.plan().nbytes,
        session.program.plan().unshared_nbytes,
    )


def test_tapes_are_timed_in_turn_and_stop_when_nobody_waits():
    session = mlp_session()
    order = []

    def note(value, name):
        order.append(name)
        return value

    subject = Subject(session.tape, session.opened.values)
    asked = iter([False, False, True])
    found = measure_together([subject, subject], stopped=lambda: note(next(asked), "asked"))
    assert [p.runs for p in found] == [2, 2]
    assert order == ["asked"] * 3


@pytest.mark.parametrize(
    ("off", "on", "told"),
    [
        (Cost("", 9, 4e-6, 6e-6, 0), Cost("", 8, 4e-6, 5e-6, 0), "CSE saves 1 call and 1 µs (10%)"),
        (Cost("", 9, 4e-6, 6e-6, 0), Cost("", 9, 4e-6, 5e-6, 0), "CSE merges nothing here"),
        (
            Cost("", 9, 4e-6, 6e-6, 0),
            Cost("", 7, 4e-6, 7e-6, 0),
            "CSE saves 2 calls and no time that can be measured",
        ),
    ],
)
def test_what_cse_saves_is_told_as_it_is(off, on, told):
    page = savings_page(Savings(off, on, on, 5, 256, 1024), None, 60)
    text = plain(page.lines)
    assert told in text
    assert "buffers 256 B, with one array an op 1,024 B (−75%)" in text


def test_scalars_have_no_buffers_and_say_so(tmp_path):
    session = opened(tmp_path, EXP)
    assert np.isscalar(session.call.value)
    assert "no buffers: every value is a scalar" in plain(
        savings_page(session.savings(), None, 80).lines
    )
