"""What a file says that was kept is read with care: the wrong is named and left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.yotaview.keeping import everything_set, texts, told
from tests.yotaview.screen_text import drive, problems
from tests.yotaview.sessions import reopened
from tests.yotaview.test_runs import invocation
from yota.tape import Var
from yotaview.app import YotaView
from yotaview.cli import left_open
from yotaview.model.folding import Folding
from yotaview.model.kept_json import MOST
from yotaview.model.session import Session
from yotaview.model.standing import read_standing, stand


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return everything_set(tmp_path)


WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "no list": (lambda j: j.update(marks={"a": 1}), "the marks cannot be read"),
    "no object": (lambda j: j.update(marks=[7, None, "x"]), "3 of 3 marks cannot be read"),
    "a long letter": (lambda j: j["marks"][0].update(letter="ab"), "1 of 1 marks cannot be read"),
    "an escape": (lambda j: j["marks"][0].update(letter="\x1b"), "1 of 1 marks cannot be read"),
    "a call of text": (lambda j: j["marks"][0].update(call="1"), "1 of 1 marks cannot be read"),
    "too many": (
        lambda j: j.update(marks=j["marks"] * (MOST + 1)),
        f"{MOST} of {MOST + 1} marks read",
    ),
    "a number below 0": (
        lambda j: j["marks"][0]["at"].update(nth=-1),
        "1 of 1 marks cannot be read",
    ),
    "a true number": (lambda j: j["marks"][0]["at"].update(nth=True), "1 of 1 marks cannot be"),
    "no such op": (
        lambda j: j["marks"][0]["at"].update(nth=10**9),
        "mark a: no such op any more (sin of",
    ),
    "no such row": (
        lambda j: j["marks"][0]["row"].update(nth=99),
        "mark a: no such tape of loss any more",
    ),
    "a part that no op has": (lambda j: j["marks"][0].update(todo=9), ""),
    "no such call": (lambda j: j["marks"][0].update(call=99), "mark a: call 99 is not kept"),
    "nothing raised": (lambda j: j["marks"][0].update(at=None), "mark a: nothing raised"),
    "a breakpoint that runs": (
        lambda j: j["breakpoints"][1]["what"].update(text="expr:__import__('os')"),
        "breakpoint expr:__import__('os'): ",
    ),
    "an attribute": (
        lambda j: j["breakpoints"][1]["what"].update(text="expr:x.__class__"),
        "breakpoint expr:x",
    ),
    "a lambda": (
        lambda j: j["watches"][0]["what"].update(text="(lambda: 1)()", ops=[]),
        "watch (lambda",
    ),
    "a long expression": (
        lambda j: j["watches"][0]["what"].update(text="w+" * 200 + "w", ops=[]),
        "watch w+w+",
    ),
    "a longer one": (
        lambda j: j["watches"][0]["what"].update(text="w" * 9999),
        "1 of 5 watches cannot be read",
    ),
    "an op of no tape": (
        lambda j: j["breakpoints"][0].update(row=None),
        "it names an op, but no tape",
    ),
    "a buffer of no plan": (lambda j: j["watches"][4]["what"].update(text="B99", ops=[]), ""),
    "an edit that runs": (
        lambda j: j["what-ifs"][0]["edits"][0].update(text="w = open('/etc/passwd')"),
        "what-if 1 (w = open('/etc/passwd')): no function",
    ),
    "no edit": (lambda j: j["what-ifs"][0].update(edits=[]), "1 of 2 what-ifs cannot be read"),
    "edits without end": (
        lambda j: j["what-ifs"][0].update(edits=j["what-ifs"][0]["edits"] * 101),
        "1 of 2 what-ifs cannot be read",
    ),
    "an edit that does not fit": (
        lambda j: j["what-ifs"][1]["edits"][0].update(text="w = w[0:2]"),
        "is not in sight: ",
    ),
    "what-if 0": (lambda j: j["what-ifs"][0].update(number=0), "1 of 2 what-ifs cannot be read"),
    "one number twice": (
        lambda j: j["what-ifs"][0].update(number=2),
        "another what-if has this number",
    ),
    "a view that is none": (lambda j: j.update(view="../../x"), ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_said_and_left_out(
    session: Session, tmp_path: Path, name: str
) -> None:
    change, said = WRONG[name]
    j = told(session)
    change(j)
    session.capture.standing = json.dumps(j)
    left = left_open(invocation("x.yota", reopened(session.capture, tmp_path)))
    assert left is not None
    back, view, text = left
    assert said in text
    assert (said == "") == (text == "")
    assert view == "step"
    for place in [*back.marks.values()]:
        back.visit(place)
    app = YotaView(back)

    async def act(pilot: Any) -> None:
        await pilot.press("B")
        await pilot.pause()
        await pilot.press("escape", "c", "C", "3", "1")
        await pilot.pause()
        assert not problems(app)

    drive(app, (80, 24), act)


@pytest.mark.parametrize("text", ["{}", "[", "null", '{"row": {"name": 3, "nth": 0}}', "1" * 5000])
def test_file_that_says_no_place_opens_as_one_without(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    session.capture.standing = text
    assert left_open(invocation("x.yota", reopened(session.capture, tmp_path))) is None
    assert "what was set in this session is left out" in capsys.readouterr().err


def test_text_without_end_is_no_place(session: Session) -> None:
    with pytest.raises(ValueError, match="not a place of the screen: 5,000,000 characters"):
        read_standing("x" * 5_000_000)


def test_session_of_an_earlier_version_has_its_stops_again(
    session: Session, tmp_path: Path
) -> None:
    sine = {"number": 3, "name": "sin", "reverse": False, "statement": "a = np.sin(w)", "nth": 0}
    session.capture.standing = json.dumps(
        {
            "row": "loss", "nth": 0, "call": 1, "at": sine, "breaks": [sine], "view": "step",
            "theme": "nord", "whens": ["nan"], "specs": ["op:exp"], "watches": [sine],
        }
    )  # fmt: skip
    left = left_open(invocation("x.yota", reopened(session.capture, tmp_path)))
    assert left is not None
    assert left[0].at == Var(3)
    assert texts(left[0]) == [("%3 if nan", True), ("op:exp", True), ("%3", True)]
    assert left[2] == ""


@pytest.mark.parametrize(
    "folds",
    [
        7, [], {"statements": 1}, {"statements": True, "by": "x"},
        {"statements": True, "by": [], "boxes": {}},
        {"statements": True, "by": "op", "boxes": {"op": [["loop", 1]]}},
        {"statements": True, "by": "op", "boxes": {"op": [["evil", 1, 2]]}},
        {"statements": True, "by": "op", "boxes": {"op": [["op", 0, 1]] * 6_000}},
        {"statements": True, "by": "op", "boxes": {"x": []}},
    ],
)  # fmt: skip
def test_folds_that_are_none_are_said_and_left_out(session: Session, folds: Any) -> None:
    j = told(session)
    j["folds"] = folds
    back, said = stand(session.capture, read_standing(json.dumps(j)))
    assert said == "what was folded cannot be read"
    assert back.folding == Folding()
