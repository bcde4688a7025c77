"""Places, breakpoints and marks as they are written, offered and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.yotaview.scripts import NAN, opened
from tests.yotaview.travelled import session
from yota.tape import Var
from yotaview.model import completion
from yotaview.model.breaks import BreakError, parse_break
from yotaview.model.completion import complete
from yotaview.model.goto import GotoError


@pytest.mark.parametrize(
    "text", ["when:later", "line:", "op:", "%", "norm>>3", "%4 if", "", "46 47"]
)
def test_unreadable_breakpoint_says_what_can_be_written(text):
    with pytest.raises(BreakError) as error:
        parse_break(text)
    assert "\n" not in str(error.value)


def test_breakpoint_whose_condition_names_nothing_says_what_there_is():
    found = session("network")
    with pytest.raises(BreakError, match=r"no name 'h': write x .* or w b"):
        found.break_at("%5 if h > 3")
    with pytest.raises(BreakError, match="no op %99"):
        found.break_at("expr:%99 > 3")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "seed"),
        ("s", "start"),
        ("line ", "line 17"),
        ("%", "%4"),
        ("4", "4C"),
        ("b ", "b op:"),
        ("b op:", "b op:matmul"),
        ("b fn:", "b fn:network"),
        ("b %5 if n", "b %5 if nan"),
        ("b expr:np.pt", "b expr:np.ptp("),
        ("w ", "w %1"),
        ("w np.ptp(%", "w np.ptp(%4"),
        ("w d%", "w d%1"),
        ("p ", "p x"),
        ("p np.linalg.n", "p np.linalg.norm("),
    ],
)
def test_prompt_offers_what_can_be_written(text, wanted):
    found = session("network")
    if wanted == "line 17":
        wanted = f"line {found.tape[Var(6)].origin.frames[0].line}"
    assert wanted in [c.text for c in complete("goto", text, found).shown]


@pytest.mark.parametrize("text", ["4", "%4", "+3", "50%", "seed", "start", "end"])
def test_everything_offered_first_can_be_gone_to(text):
    found = session("network")
    found.jump(complete("goto", text, found).shown[0].text)


def test_what_is_offered_is_written_out_only_where_it_is_shown(monkeypatch):
    found, written_out = session("network"), []
    monkeypatch.setattr(completion, "format_call", lambda op: written_out.append(op) or "a call")
    choices = complete("goto", "%", found)
    assert (choices.total, written_out) == (len(found.tape), [])
    assert choices.shown[10].help == "a call"
    assert len(written_out) == 1


def test_position_that_is_none_says_what_can_be_written(tmp_path: Path) -> None:
    found = opened(tmp_path, NAN)
    with pytest.raises(GotoError, match="write 46"):
        found.jump("somewhere")
    found.jump("nan")
    assert found.at == found.alerts[0].var
