from collections import Counter

import pytest

from tests.yotaview.screen_text import drive, mlp_session, problems, text_of
from yotaview.app import YotaView
from yotaview.keys import (
    ABOUT,
    BY_ACTION,
    FOOTERS,
    KEYS,
    PAIRS,
    PANES,
    SHOWN,
    VIEWS,
    hint,
    readme_table,
)
from yotaview.render.line import Page, Span
from yotaview.screens.base import MAKE
from yotaview.screens.main import MainScreen
from yotaview.widgets.pane import Pane
from yotaview.widgets.state import State
from yotaview.widgets.view import View

# what each view has to decide for itself
OWN = ("layout", "group", "more", "less")


def test_no_key_or_action_twice():
    assert [k for k, n in Counter(k for key in KEYS for k in key.keys).items() if n > 1] == []
    assert len(BY_ACTION) == len(KEYS)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("key", KEYS, ids=lambda k: k.action)
def test_every_key_has_a_handler_in_every_view(key, view):
    if key.scope == "view":
        handler = getattr(MAKE[view], f"do_{key.action}")
        assert handler is not getattr(View, f"do_{key.action}") or key.action not in OWN
    elif key.scope == "global":
        assert key.action.startswith("view_") or hasattr(MainScreen, f"do_{key.action}")
        assert not hasattr(MAKE[view], f"do_{key.action}")
    else:
        bound = {k for b in Pane.BINDINGS for k in b.key.split(",")}
        assert set(key.keys) <= bound


class Bare(View):
    """A view with a pane and nothing of its own."""

    def draws(self):
        return {"only": lambda width, height: Page([(Span("bare"),)], "Bare")}

    def boxes(self, width, height):
        return {"only": (0, 0, width, height)}


def test_new_view_answers_every_key(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(MAKE, "step", Bare)
    app = YotaView(mlp_session())

    async def act(pilot):
        for key in (k for k in KEYS if k.scope == "view"):
            await pilot.press(key.usual[0])
            await pilot.press("escape")
        assert app.is_running
        assert not problems(app)

    drive(app, (80, 24), act)


def test_no_handler_without_a_key():
    for cls in (MainScreen, *MAKE.values()):
        for name in dir(cls):
            if name.startswith("do_"):
                assert name.removeprefix("do_") in BY_ACTION


@pytest.mark.parametrize("view", VIEWS)
def test_every_key_works_in_every_view(view, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = YotaView(mlp_session(), view=view)
    calls = []

    async def act(pilot):
        real = MainScreen.action_act
        monkeypatch.setattr(MainScreen, "action_act", lambda s, a: (calls.append(a), real(s, a))[1])
        for key in KEYS:
            if (
                key.action in ("quit", "commands")
                or key.action.startswith("view_")
                or key.scope == "pane"
            ):
                continue
            app.screen.show(view)
            calls.clear()
            await pilot.press(key.keys[0])
            assert calls == [key.action]
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
            if app.screen.prompt.display:
                await pilot.press("escape")
            assert "Traceback" not in text_of(app)
        assert all(v.problem is None for v in app.screen.views.values())

    drive(app, (120, 40), act)


@pytest.mark.parametrize("view", VIEWS)
def test_digits_lead_to_views(view):
    app = YotaView(mlp_session(), view=view)

    async def act(pilot):
        for number, name in enumerate(VIEWS, 1):
            await pilot.press(str(number))
            assert app.screen.view_name == name

    drive(app, (80, 24), act)


def test_footers_name_keys_that_exist():
    for actions in FOOTERS.values():
        assert len(set(actions)) == len(actions)
        for action in actions:
            keys, label = hint(action)
            assert keys
            assert label
    for action, (other, _) in PAIRS.items():
        assert {action, other} <= BY_ACTION.keys()


def test_plain_keys_only():
    for key in KEYS:
        for name in key.keys:
            assert len(name) == 1 or name in SHOWN or name in ("tab", "shift+tab", "enter")


def test_readme_table_has_every_key():
    rows = readme_table().splitlines()[2:]
    assert len(rows) == len(KEYS)
    assert all(k.told in row for k, row in zip(KEYS, rows, strict=True))


def test_every_pane_has_its_help():
    state = State(mlp_session())
    named = {f"{name}.{pane}" for name, make in MAKE.items() for pane in make(name, state).panes}
    assert named == PANES.keys()


@pytest.mark.parametrize("view", VIEWS)
def test_help_begins_with_the_view_and_the_pane(view):
    app = YotaView(mlp_session(), view=view)

    async def act(pilot):
        await pilot.press("tab", "question_mark")
        rows = app.screen.pane.page.lines
        shown = " ".join(" ".join(s.text for row in rows for s in row).split())
        assert ABOUT[view] in shown
        assert PANES[f"{view}.{app.screen_stack[0].view.current}"] in shown
        await pilot.press("question_mark")
        assert len(app.screen_stack) == 1

    drive(app, (80, 24), act)
