"""What would come of another value: only what depends on it, bit for bit as in a fresh run."""

from __future__ import annotations

from functools import cached_property as cached

import numpy as np
import pytest

import yota
from tests.yotaview.own import own_multiple
from tests.yotaview.screen_text import drive, mlp_session, problems, screen_of, text_of
from yota.tape import Call, Input, Var
from yotaview.app import YotaView
from yotaview.model.edits import EditError, read_edit
from yotaview.model.hits import find_breaks
from yotaview.model.opened import Opened
from yotaview.model.replay import quiet, replay
from yotaview.model.same import same_bits
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.whatif import Consent, Forked, Forks, changed, fork
from yotaview.model.why import Element
from yotaview.render.line import plain
from yotaview.render.whatif import whatif_page
from yotaview.render.why import explainer_of

RNG = np.random.default_rng(11)
X = RNG.standard_normal((8, 3))
ARGS = (RNG.standard_normal((3, 4)), RNG.standard_normal(4), 0.7)


def loss(w, b, s):
    h = np.tanh(X @ w + b)
    p = 1 / (1 + np.exp(-np.sum(h, axis=1)))
    return np.mean(p**2) * s + np.sum(np.where(h > 0.5, h, 0.1) ** 2)


@pytest.fixture(scope="module")
def network() -> Session:
    return session_of(yota.gradtape(loss, *ARGS))


INPUTS = (
    "w[0,2] = 1.5", "w *= 2", "w = np.clip(x, -1, 1)", "b += 0.25", "b[-1] = 0", "b = 0",
    "s = 2", "s *= -1.5", "w[1] = w[0]", "w[:,1] -= 1", "b = b[0]", "b **= 2", "s = w[0,0]",
)  # fmt: skip


@pytest.mark.parametrize("text", INPUTS)
def test_edited_input_equals_a_fresh_run_bit_for_bit(network, text):
    edit = read_edit(text, network.tape)
    branch = fork(network.opened, [edit])
    args = [branch.values[v] for v in network.tape.inputs]
    fresh = yota.gradtape(loss, *args)
    assert not branch.problems
    for var in network.tape.ops:
        assert same_bits(branch.values[var], fresh.value(var)), var


def middle_edits(session: Session, count: int) -> list[str]:
    found = []
    order = [v for v, op in session.tape if isinstance(op, Call) and op.spec.dtype is not None]
    floats = [v for v in order if session.tape[v].spec.dtype.kind == "f"]
    for k, var in enumerate(RNG.choice([v.id for v in floats], count, replace=False)):
        shape = np.shape(session.recorded(Var(int(var))))
        at = f"[{','.join(str(int(RNG.integers(n))) for n in shape)}]" if shape and k % 2 else ""
        found.append(f"%{var}{at} {('=', '*=', '+=')[k % 3]} {float(RNG.standard_normal()):.3f}")
    return found


def test_edited_ops_equal_a_fresh_run_of_the_tape_bit_for_bit(network):
    for text in middle_edits(network, 20):
        edit = read_edit(text, network.tape)
        branch = fork(network.opened, [edit])
        known = {edit.var: branch.edited[edit.var]}
        values, why = replay(network.tape, network.call.inputs, known)
        assert set(branch.problems) == set(why)
        assert all(same_bits(branch.values[v], values[v]) for v in values), text


def test_only_what_depends_on_an_edit_is_run(network, monkeypatch):
    ran: list[Var] = []
    from yotaview.model import whatif

    real = whatif._Rerun.one
    monkeypatch.setattr(
        whatif._Rerun, "one", lambda s, v, op, k: (ran.append(v), real(s, v, op, k))[1]
    )
    cotangent = network.tape.cotangents[network.tape.inputs[1]]
    branch = fork(network.opened, [read_edit(f"{cotangent} = 0", network.tape)])
    assert ran == list(branch.ran) == []
    branch = fork(network.opened, [read_edit("s = 2", network.tape)])
    forward = [v for v in ran if not network.tape.is_reverse(v)]
    assert len(forward) < 5
    untouched = set(network.tape.ops) - set(branch.ran) - {edit.var for edit in branch.edits}
    assert all(branch.values[v] is network.opened.values[v] for v in untouched)


def test_original_stays_as_it_was(network):
    before = {v: np.copy(x) for v, x in network.opened.values.items()}
    fork(network.opened, [read_edit("w *= 2", network.tape), read_edit("%7 = 0", network.tape)])
    assert all(
        same_bits(np.asarray(before[v]), np.asarray(x)) for v, x in network.opened.values.items()
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("w", "cannot read 'w': write %7"),
        ("nothing = 1", "no 'nothing' on this tape"),
        ("w[9,9] = 1", "out of bounds"),
        ("w = 1j", "%1 is f64.3,4.: complex128 does not fit"),
        ("w = b[:2]", "could not broadcast"),
        ("w = open('x')", "no function 'open'"),
        ("w = ().__class__", "underscores"),
        ("s[0] = 1", "a single number"),
        ("s = w[0]", r"shape \(4,\) does not fit"),
        ("s *= b", r"shape \(4,\) does not fit"),
        ("w[i] = 1", "an index is of numbers"),
    ],
)
def test_what_cannot_be_edited_is_refused(network, text, reason):
    with pytest.raises(EditError, match=reason):
        fork(network.opened, [read_edit(text, network.tape)])


def test_guard_that_breaks_is_said():
    def f(x):
        if np.sum(x) > 0:
            return np.sum(x * x)
        return np.sum(np.sin(x))

    session = session_of(yota.gradtape(f, np.ones(3)))
    forks = Forks(session.opened)
    forks.add("x *= -1")
    text = plain(whatif_page(session, forks, 400).lines)
    assert "test_whatif.py:" in text
    assert "would go the other way" in text
    assert "the tape no longer tells what f does" in text
    forks.switch(0)
    forks.add("x *= 2")
    assert "other way" not in plain(whatif_page(session, forks, 400).lines)


def test_users_functions_run_by_consent_only():
    mine, ran = own_multiple(3)
    session = session_of(yota.gradtape(lambda x: np.sum(mine(x) ** 2), np.ones(2)))
    before = len(ran)
    edit = read_edit("x = 2", session.tape)
    with pytest.raises(Consent, match=r"runs your mine \(test_whatif.py:"):
        fork(session.opened, [edit])
    assert len(ran) == before
    branch = fork(session.opened, [edit], consent=True)
    assert len(ran) == before + 1
    assert branch.values[session.tape.result_vars[0]] == 72.0


def test_branches_are_listed_switched_and_discarded(network):
    forks = Forks(network.opened)
    forks.add("w *= 2")
    forks.add("b = 0")
    assert [b.text for b in forks.branches] == ["w *= 2", "w *= 2; b = 0"]
    forks.switch(1)
    assert forks.add("s = 1").text == "w *= 2; s = 1"
    forks.drop(2)
    assert [b.number for b in forks.branches] == [1, 3]
    forks.switch(0)
    assert forks.opened() is network.opened
    with pytest.raises(EditError, match=r"no what-if 2: there are 0 \(as recorded\), 1, 3"):
        forks.switch(2)


def test_what_if_is_told_beside_the_original(network):
    forks = Forks(network.opened)
    branch = forks.add("s *= 2")
    text = plain(whatif_page(network, forks, 100).lines)
    first = next(v for v in changed(network.opened, branch) if v not in branch.edited)
    assert f"first to differ: {first} " in text
    assert "loss" in text
    assert "‖∂w‖" in text
    assert "▶ 1   s *= 2" in text


def test_recorded_inputs_of_a_branch_are_the_edited_ones(network):
    branch = fork(network.opened, [read_edit("b = 0", network.tape)])
    opened = Forked(network.opened, branch)
    assert not np.any(opened.call.inputs[1])
    assert np.any(network.opened.call.inputs[1])
    assert opened.alerts == network.opened.alerts


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_what_if_looks_as_recorded(size, golden):
    keys = ("e", "end", *["backspace"] * 30, *"W1 *= 2", "enter")
    golden(f"views/whatif-{size[0]}x{size[1]}.txt", screen_of(mlp_session(), size, keys))


async def edit(app, pilot, text: str) -> None:
    await pilot.press("e")
    app.screen.prompt.input.value = text
    await pilot.press("enter")
    await pilot.pause()


def test_screen_shows_the_branch_and_returns_to_the_original():
    app = YotaView(mlp_session())

    async def act(pilot):
        session = app.state.session
        before = session.recorded(Var(1))
        await edit(app, pilot, "W1 *= 2")
        assert "What-if 1: W1 *= 2" in text_of(app)
        await pilot.press("escape")
        assert "what-if 1" in text_of(app).splitlines()[0]
        assert np.array_equal(session.recorded(Var(1)), before * 2)
        await edit(app, pilot, "0")
        await pilot.press("escape")
        assert "what-if" not in text_of(app).splitlines()[0]
        assert session.recorded(Var(1)) is before

    drive(app, (80, 24), act)


def test_breakpoints_and_watches_hold_in_a_branch():
    app = YotaView(mlp_session())

    async def act(pilot):
        session = app.state.session
        session.stops.add_break("op:tanh if absmax>0.5", session)
        session.stops.add_watch("absmax(%7)", session)
        await edit(app, pilot, "%6 = 0")
        await pilot.press("escape", "c", "B")
        assert "op:tanh if absmax>0.5  hit 0" in text_of(app), text_of(app)
        assert not problems(app)

    drive(app, (80, 24), act)


def test_branch_has_all_that_an_open_call_has(network):
    branch = fork(network.opened, [read_edit("w *= 2", network.tape)])
    derived = {k for k in vars(network.opened) if isinstance(getattr(Opened, k, None), cached)}
    assert set(vars(network.opened)) - derived <= set(vars(Forked(network.opened, branch)))


def test_prompt_begins_with_the_element_and_says_what_cannot_be():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("e")
        assert app.screen.prompt.input.value.startswith("%1[")
        await pilot.press("escape")
        await edit(app, pilot, "W1 = nonsense")
        assert "nonsense" in text_of(app)
        await pilot.press("escape")
        await edit(app, pilot, "W1 *= 0.5")
        await pilot.press("escape", "W", "2", "3", "4", "5", "6", "1")
        assert not problems(app)

    drive(app, (80, 24), act)


def test_breakpoints_ask_the_values_of_the_branch(network):
    session = network.still()
    limit = f"expr:np.max(x) > {4 * np.max(ARGS[0])}"
    assert Var(1) not in find_breaks(limit, session)
    session.opened = Forked(
        network.opened, fork(network.opened, [read_edit("w *= 8", network.tape)])
    )
    assert Var(1) in find_breaks(limit, session)


def test_parts_breakpoints_and_watches_work_in_a_branch():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("b")
        await edit(app, pilot, "W1 *= 2")
        await pilot.press("escape", "s", "b", "w", "n", "C", "C")
        assert app.state.session.stepper.index == 0
        assert "what-if 1" in text_of(app).splitlines()[0]
        assert not problems(app)

    drive(app, (120, 40), act)


def test_edits_that_do_not_read_each_other_run_the_users_function_once():
    runs = []

    @yota.primitive
    def twice(x):
        runs.append(1)
        return 2 * x

    yota.defvjp(twice, lambda dy, y, x: 2 * dy)
    session = session_of(yota.gradtape(lambda a, b: np.sum(twice(a) * b), np.ones(3), np.ones(3)))
    texts = ["a *= 2", "b[0] = 5", "a[1] = 7", "b = a"]
    edits = [read_edit(text, session.tape) for text in texts]
    runs.clear()
    branch = fork(session.opened, edits, consent=True)
    assert len(runs) == 1
    assert np.array_equal(branch.values[session.tape.result_vars[0]], 2 * (4 + 49 + 4))
    fork(session.opened, [*edits, read_edit("%3 += 1", session.tape)], consent=True)
    assert len(runs) == 2


def test_shape_that_depends_on_values_is_said_to_change():
    session = session_of(yota.gradtape(lambda x: np.sum(x[x > 0] ** 2), np.array([1.0, -2.0, 3.0])))
    branch = fork(session.opened, [read_edit("x = 1", session.tape)])
    assert "has shape (3,) now, (2,) when recorded" in " ".join(branch.problems.values())


def test_what_is_set_by_an_edit_is_not_said_to_be_computed(network):
    branch = fork(network.opened, [read_edit("%7[0,0] = 5", network.tape)])
    session = network.still()
    session.opened = Forked(network.opened, branch)
    why = explainer_of(session).why(Element(Var(7), (0, 0)))
    assert (why.kind, why.note) == ("given", "%7 is set by the what-if")
    behind = branch.ran[0]
    index = (0,) * np.ndim(branch.values[behind])
    assert explainer_of(session).why(Element(behind, index)).value == branch.values[behind][index]


def test_edits_of_inputs_by_name_need_no_number(network):
    for var in network.tape.inputs:
        op = network.tape[var]
        assert isinstance(op, Input)
        with quiet():
            assert read_edit(f"{op.name} = 0", network.tape).var == var


def test_whole_edit_typed_behind_the_one_begun_goes_before_it():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("e", *"%7")
        app.screen.prompt.input.insert_text_at_cursor(" = np.clip(x, -0.5, 0.5)")
        await pilot.press("enter")
        assert "What-if 1: %7 = np.clip(x, -0.5, 0.5)" in text_of(app)
        await pilot.press("escape", "e", *"drop 1", "enter")
        assert "▶ 0   as recorded" in text_of(app)
        assert "%7 = " not in text_of(app)

    drive(app, (80, 24), act)


def test_op_that_a_branch_sets_is_explained_by_the_edit_alone():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("e", *"%7 = np.clip(x, -0.1, 0.1)", "enter", "escape")
        await pilot.press("colon", *"%7", "enter")
        text = text_of(app)
        assert "set by the what-if" in text
        assert "given %7 = np.clip(x, -0.1, 0.1)" in text
        assert "rule tanh" not in text
        await pilot.press("n")
        assert "set by the what-if" not in text_of(app)

    drive(app, (80, 24), act)


def test_result_that_was_not_finite_and_is_now_says_so():
    session = session_of(yota.gradtape(lambda x: np.sum(np.log(x)), np.array([0.0, 1.0])))
    forks = Forks(session.opened)
    forks.add("x = 2")
    session.opened = forks.opened()
    assert "finite now" in plain(whatif_page(session, forks, 80).lines)
