"""The first bad call of many, and the op at which it went bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

import yota
from tests.yotaview.screen_text import captured as capture_of
from tests.yotaview.screen_text import drive, text_of
from tests.yotaview.scripts import LOOP, captured
from tests.yotaview.sessions import reopened
from yota.tape import Call
from yotaview import cli
from yotaview.app import YotaView
from yotaview.capture import Capture, Limits, Row
from yotaview.model import bisect as module
from yotaview.model.bisect import first_bad, outcome_text
from yotaview.model.predicate import PredicateError, parse_predicate, stop_in
from yotaview.model.session import Session
from yotaview.model.single import session_of

BLOWS_UP = Path(__file__).parents[1] / "data" / "blows_up.py"
GROWS = """\
import numpy as np
import yota


def loss(w, scale):
    big = np.exp(w) * scale
    return np.sum(big)


for step in range(1, {count} + 1):
    yota.grad(loss, np.ones(3), 10.0 if step < {bad} else 1e6)
"""


@pytest.fixture(scope="module")
def blown_up() -> Capture:
    return capture_of(BLOWS_UP)


def test_bad_step_of_a_thousand_is_named_with_its_op_and_line(blown_up: Capture) -> None:
    found = first_bad(blown_up, 0, "nan")
    assert (found.first, found.good, found.opened, found.replays) == (731, 730, 731, 1)
    assert found.place == "blows_up.py:16"
    assert found.var is not None
    op = blown_up.rows[0].tape[found.var]
    assert isinstance(op, Call)
    assert op.name == "log"
    told = outcome_text(found, blown_up.rows[0])
    assert told.startswith("blows_up.py:16: tape 1 loss, call 731 of 1,000 is the first with nan")
    assert "log(%5) gives infinity at [3]" in told


@pytest.mark.parametrize(
    ("condition", "is_bad"),
    [
        ("norm>1e3", lambda row, k: row.norms[k] > 1e3),
        ("norm params['W2'] > 1e3", lambda row, k: row.by_key["params['W2']"][k] > 1e3),
        ("value >= inf", lambda row, k: row.values[k] == np.inf),
        ("value<.001", lambda row, k: row.values[k] < 0.001),
    ],
)
def test_what_is_counted_for_every_call_is_exact(
    blown_up: Capture, condition: str, is_bad: Callable[[Row, int], bool]
) -> None:
    row = blown_up.rows[0]
    found = first_bad(blown_up, 0, condition)
    assert found.first == next(k + 1 for k in range(row.count) if is_bad(row, k))
    assert found.replays <= 10
    assert found.var is not None


@pytest.mark.parametrize("bad", [1, 2, 37, 500, 731, 1000])
def test_a_condition_on_ops_takes_ten_replays_of_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: int
) -> None:
    text = GROWS.format(count=1000, bad=bad).replace("1e6)", "np.inf)")
    capture = captured(tmp_path, text)
    assert len(capture.rows[0].calls) == 1000
    opened: list[int] = []

    def counting(*args: Any) -> Session:
        opened.append(args[2])
        return Session(*args)

    monkeypatch.setattr(module, "Session", counting)
    found = first_bad(capture, 0, "inf")
    assert (found.first, found.good, found.gap) == (bad, bad - 1 or None, "")
    assert found.replays <= 10
    assert len(set(opened)) == found.replays
    assert found.var is not None


def test_calls_that_are_not_kept_are_said_not_to_be(tmp_path: Path) -> None:
    text = GROWS.format(count=400, bad=200)
    capture = captured(tmp_path, text, Limits(max_bytes=30_000))
    row = capture.rows[0]
    numbers = [c.number for c in row.calls]
    assert 200 not in numbers
    later = next(n for n in numbers if n > 200)
    found = first_bad(capture, 0, "value>1e6")
    assert (found.first, found.opened) == (200, later)
    assert f"call 200 is not kept ({row.kept_text}): call {later} is the next bad one" in found.gap
    row.calls = [c for c in row.calls if c.number < 200]
    found = first_bad(capture, 0, "value>1e6")
    assert (found.first, found.opened, found.var) == (200, None, None)
    assert "call 200 is not kept, nor is any bad one behind it" in found.gap


def test_search_among_kept_calls_names_the_gap(tmp_path: Path) -> None:
    text = GROWS.format(count=400, bad=200).replace("1e6)", "np.inf)")
    capture = captured(tmp_path, text, Limits(max_bytes=30_000))
    numbers = [c.number for c in capture.rows[0].calls if c.number != 200]
    capture.rows[0].calls = [c for c in capture.rows[0].calls if c.number != 200]
    capture.rows[0].calls = [c for c in capture.rows[0].calls if c.number not in range(200, 208)]
    numbers = [c.number for c in capture.rows[0].calls]
    low, high = max(n for n in numbers if n < 200), min(n for n in numbers if n > 200)
    found = first_bad(capture, 0, "inf")
    assert (found.first, found.good) == (high, low)
    assert f"{high - low - 1} calls between {low} and {high} are not kept" in found.gap


def test_none_is_bad(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=20))
    for condition in ("nan", "norm>1e9", "inf"):
        found = first_bad(capture, 0, condition)
        assert found.first is None
        told = outcome_text(found, capture.rows[0])
        assert told == f"tape 1 loss: {condition} in none of 20 calls"


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("", "no condition: write nan"),
        ("what?", "cannot read"),
        ("norm V > 3", "no gradient of 'V' in loss; there are: w, x"),
        ("norm > three", "no name .three"),
    ],
)
def test_condition_that_means_nothing_says_what_does(
    tmp_path: Path, condition: str, says: str
) -> None:
    capture = captured(tmp_path, LOOP.format(count=4))
    with pytest.raises(PredicateError, match=says.replace("?", ".")):
        first_bad(capture, 0, condition)


def test_norms_are_counted_by_key_and_saved(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=12))
    row, back = capture.rows[0], reopened(capture, tmp_path).rows[0]
    assert list(row.by_key) == ["w", "x"]
    assert back.by_key == row.by_key
    for k, norm in enumerate(row.norms):
        assert norm == pytest.approx(sum(h[k] ** 2 for h in row.by_key.values()) ** 0.5)


def test_flag_names_call_op_and_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "grows.py"
    script.write_text(GROWS.format(count=30, bad=20))
    assert cli.main(["--bisect", "norm>1e6", str(script)]) == 4
    out, err = capfd.readouterr()
    assert out.startswith("grows.py:6: tape 1 loss, call 20 of 30 is the first with norm>1e6")
    assert "1 tape searched, 1 bad; 1 replay" in err
    assert cli.main(["--json", "--bisect", "norm>1e6", str(script)]) == 4
    (line,) = capfd.readouterr().out.splitlines()
    assert {k: json.loads(line)[k] for k in ("first", "good", "loc")} == {
        "first": 20, "good": 19, "loc": "grows.py:6",
    }  # fmt: skip
    assert cli.main(["--bisect", "nan", str(script)]) == 0
    assert cli.main(["--bisect", "??", str(script)]) == 2


@pytest.mark.parametrize("keys", [("X", "enter"), (*":bisect", "space", *"nan", "enter")])
def test_key_opens_the_first_bad_call_at_its_op(blown_up: Capture, keys: tuple[str, ...]) -> None:
    session = Session(blown_up, 0, 3)
    app = YotaView(session)

    async def act(pilot: Any) -> None:
        for key in keys:
            await pilot.press("colon" if key == ":" else key)
        await pilot.pause()
        assert session.call is not None
        assert session.call.number == 731
        assert "call 731 of 1,000 is the first with nan" in text_of(app)
        op = session.tape[session.at]
        assert isinstance(op, Call)
        assert op.name == "log"

    drive(app, (120, 40), act)


def test_rows_without_a_gradient_are_said_not_to_be_searched(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "grows.py"
    script.write_text(GROWS.format(count=5, bad=4) + "yota.trace(loss, np.ones(3), 1.0)\n")
    assert cli.main(["--bisect", "norm>1e6", str(script)]) == 4
    out, err = capfd.readouterr()
    assert "call 4 of 5 is the first" in out
    assert "not searched: norm>1e6 cannot be asked of loss: its calls have no gradient" in err
    assert "1 tape searched, 1 bad" in err


def test_condition_that_nan_does_not_meet_is_found_all_the_same(blown_up: Capture) -> None:
    found = first_bad(blown_up, 0, "expr:np.ptp(x)>1e9")
    assert (found.first, found.good, found.place) == (731, 730, "blows_up.py:16")
    assert found.replays <= 10


def test_run_that_is_no_longer_finite_is_no_good_one_whatever_is_counted(blown_up: Capture) -> None:
    for condition in ("norm<-1", "value<-1e300"):
        found = first_bad(blown_up, 0, condition)
        assert (found.first, found.good, found.place) == (731, 730, "blows_up.py:16")
        told = outcome_text(found, blown_up.rows[0])
        assert f"call 731 of 1,000 is the first with {condition} or not finite" in told
        assert "log(%5) gives infinity at [3]" in told


def test_proposed_condition_is_replaced_by_what_is_typed(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=4))
    app = YotaView(Session(capture, 0))

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("X")
        assert app.screen.prompt.input.value == "nan"
        await pilot.press(*"value>1")
        assert app.screen.prompt.input.value == "value>1"

    drive(app, (80, 24), act)


def test_unreadable_condition_lists_each_form_once() -> None:
    session = session_of(yota.gradtape(np.sin, 0.5))
    with pytest.raises(PredicateError) as error:
        stop_in(session, parse_predicate("nannorm>1e3"))
    assert str(error.value).startswith("cannot read 'nannorm>1e3': write nan, norm>1e3, norm W1>10")
    assert str(error.value).count("norm>1e3,") == 1
