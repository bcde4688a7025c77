"""From an element of the grid to what it is made of, and back, by keys."""

from __future__ import annotations

import numpy as np
import pytest
from textual.pilot import Pilot

import yota
from tests.yotaview.screen_text import drive, mlp_session, problems, screen_of, text_of
from yota.tape import Input, Var
from yotaview.app import YotaView
from yotaview.model.cells import Cells
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.why import Element

SIZES = ((80, 24), (120, 40), (200, 60))
AT_49 = ("colon", "percent_sign", "4", "9", "enter")


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_why_looks_as_recorded(size, golden):
    shown = screen_of(mlp_session(), size, (*AT_49, "W", "enter"))
    golden(f"views/why-{size[0]}x{size[1]}.txt", shown)


def walk(session: Session, *steps, size=(80, 24)) -> YotaView:
    """Press keys; call what is no key with the app."""
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        for step in steps:
            if callable(step):
                step(app)
            else:
                await pilot.press(step)
        assert not problems(app)

    drive(app, size, act)
    return app


def element_of(app: YotaView) -> Element | None:
    trail = app.screen.view.trail
    return trail.element if trail else None


def test_gradient_leads_to_an_input_in_eight_keys():
    keys = ("W", "enter", "enter", "j", "enter")
    seen: list[Element | None] = []
    session = mlp_session()
    walk(session, *AT_49, *keys, lambda app: seen.append(element_of(app)))
    assert len(keys) <= 8
    assert seen[0] is not None
    assert isinstance(session.tape[seen[0].var], Input)


def test_arrows_choose_the_element_and_enter_asks_why():
    seen = []
    walk(
        mlp_session(), *AT_49, "tab", "g",
        *AT_49, "h", "h", "h", "k", "k", "k", "l", "l", "enter",
        lambda app: seen.append(element_of(app)),
    )  # fmt: skip
    assert seen == [Element(Var(49), (0, 2))]


def test_escape_goes_back_over_the_same_way():
    seen: list[tuple] = []

    def note(app):
        view = app.screen.view
        seen.append((element_of(app), view.trail.row if view.trail else None, app.state.session.at))

    ahead = ("W", note, "j", "j", note, "enter", note, "enter", note)
    walk(mlp_session(), *AT_49, *ahead, "escape", note, "escape", note, "escape", note)
    first, chosen, second, third, back, again, out = seen
    assert second[2] != first[2]
    assert third[2] != second[2]
    assert (back, again) == (second, chosen)
    assert out == (None, None, Var(49))


def test_another_position_ends_the_explanation():
    shown = screen_of(mlp_session(), (120, 40), (*AT_49, "W", "N"))
    assert "Source + rule" in shown
    assert "esc back" not in shown


def test_other_factor_is_followed_with_h_and_l():
    seen = []
    walk(
        mlp_session(), *AT_49, "W", "l", "enter",
        lambda app: seen.append(app.state.session.tape[app.state.session.at]),
    )  # fmt: skip
    assert seen[0].name == "X"


def test_what_nothing_made_is_said():
    shown = screen_of(mlp_session(), (80, 24), ("g", "W", "enter"))
    assert "W1 is an input: nothing on the tape made it" in shown


def test_every_kept_call_explains_the_same_element():
    values = []
    walk(
        mlp_session(call=0), *AT_49, "W", lambda app: values.append(text_of(app)),
        "right_square_bracket", lambda app: values.append(text_of(app)),
    )  # fmt: skip
    first, second = (next(r for r in v.splitlines() if "∂W1[" in r and "=" in r) for v in values)
    assert first.split("=")[0].split()[-1] == second.split("=")[0].split()[-1]
    assert first != second


def test_w_asks_for_the_element_that_is_not_finite_first():
    x = np.array([1.0, -2.0, 400.0])
    with np.errstate(all="ignore"):
        session = session_of(yota.gradtape(lambda x: np.sum(np.sqrt(x)), x))
    seen = []
    walk(session, "colon", "percent_sign", "2", "enter", "W", lambda a: seen.append(element_of(a)))
    assert seen == [Element(Var(2), (1,))]


def test_cells_stay_within_the_value_and_slices_are_walked():
    session = session_of(yota.trace(lambda x: x * 2, np.arange(24.0).reshape(2, 3, 4))[1])
    session.jump("end")
    cells = Cells()
    assert cells.at(session, Var(2)) == (1, 2, 3)
    assert not cells.move(session, 1, 0, 1)
    assert cells.move(session, -1, -1, 1)
    assert cells.at(session, Var(2)) == (1, 1, 2)
    assert cells.next_plane(session) == (1, 2)
    assert cells.at(session, Var(2)) == (0, 1, 2)
    assert cells.next_plane(session) == (2, 2)


def test_vector_is_walked_in_the_rows_that_are_shown():
    session = session_of(yota.trace(lambda x: x * 2, np.arange(12.0))[1])
    session.jump("end")
    cells = Cells({(0, Var(2)): (0,)})
    assert cells.move(session, 1, 0, 4)
    assert cells.at(session, Var(2)) == (4,)
    assert not cells.move(session, -2, 0, 4)


def test_grid_scrolls_to_the_element_one_stands_on():
    session = session_of(yota.trace(lambda x: x * 2, np.arange(4000.0).reshape(100, 40))[1])
    keys = ("G", "tab", *["j"] * 3, *["k"] * 60, *["h"] * 5)
    shown = screen_of(session, (80, 24), keys)
    assert "[39,34]" in shown
    assert "▶" in next(r for r in shown.splitlines() if "│39" in r or "┃39" in r)


def test_wide_screen_tells_the_terms_of_the_element_without_being_asked():
    shown = screen_of(mlp_session(), (200, 60), AT_49)
    assert "element ∂W1[0,1] = " in shown
    assert "6 of 8 shown, the rest sum to" in shown
    assert "element" not in screen_of(mlp_session(), (80, 24), AT_49)


def test_linear_algebra_is_explained_when_asked_only():
    session = session_of(yota.gradtape(lambda x: np.linalg.det(x), np.eye(3)))
    session.jump("%2")
    hint = " ".join(("W:", "why"))  # the source around the function is on the screen too
    assert hint not in screen_of(session, (200, 60))
    assert "has no exact terms" in screen_of(session, (200, 60), ["W"])


def test_first_arrow_moves_where_the_largest_element_is_in_sight_already():
    small = session_of(yota.gradtape(lambda x: np.sum(x**2), np.array([3.0, 1.0, 2.0])))
    large = session_of(yota.gradtape(lambda x: np.sum(x**2), np.arange(400.0)))
    for session, index in ((small, (1,)), (large, (399,))):
        app = YotaView(session)

        async def act(pilot: Pilot[int], app: YotaView = app, index: tuple[int] = index) -> None:
            await pilot.press("tab", "right")
            element = app.state.cells.element(app.state.session)
            assert element is not None
            assert element.index == index
            assert (app.screen.told == "") == (index == (1,))

        drive(app, (80, 24), act)
