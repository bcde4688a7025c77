"""Time travel on the screen: keys, prompt, list of stops, watches beside the tape."""

import re

import pytest
from textual.pilot import Pilot

from tests.yotaview.big_tape import big_session
from tests.yotaview.screen_text import counted, drive, mlp_session, screen_of, text_of
from yota.tape import Var
from yotaview.app import Actions, YotaView
from yotaview.keys import BY_ACTION
from yotaview.screens.seeking import COUNTED
from yotaview.screens.text import help_page

NAMED = {
    ":": "colon", "%": "percent_sign", " ": "space", "'": "apostrophe", "(": "left_parenthesis",
    ")": "right_parenthesis", ">": "greater_than_sign", "<": "less_than_sign", ".": "full_stop",
    "_": "underscore", "-": "minus",
}  # fmt: skip


def typed(text: str) -> list[str]:
    return [NAMED.get(c, c) for c in text]


def command(text: str) -> list[str]:
    return [*typed(f":{text}"), "enter"]


STOPS = (
    *command("b op:log"), *command("b %46 if norm>1e-9"), *command("w %7"),
    *command("w np.ptp(%6)"), *command("45"), *typed("ma"), *command("46"),
)  # fmt: skip


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_step_with_stops_looks_as_recorded(size, golden):
    shown = screen_of(counted(mlp_session()), size, STOPS)
    golden(f"views/stops-{size[0]}x{size[1]}.txt", shown)


def test_list_of_stops_looks_as_recorded(golden):
    golden("views/stops-list-80x24.txt", screen_of(mlp_session(), (80, 24), [*STOPS, "B"]))


def test_parts_of_an_op_look_as_recorded(golden):
    session = mlp_session()
    last = session.stepper.positions[session.tape.cotangents[Var(12)]]
    keys = (*command(str(last)), "s", "s", "s", "s")
    golden("views/part-120x40.txt", screen_of(counted(session), (120, 40), keys))


@pytest.mark.parametrize("size", [(40, 12), (60, 16), (80, 24)], ids=str)
@pytest.mark.parametrize(
    "keys", [["n"], ["s"], ["s", "s", "s"], command("b op:log"), ["w"]], ids=str
)
def test_position_is_in_sight_at_every_size(size, keys):
    session = mlp_session()
    rows = screen_of(session, size, [*command("30"), *keys]).splitlines()
    assert f"op {session.stepper.index + 1}/49" in rows[0]
    assert "▶" in "".join(r for r in rows if f"%{session.at.id} " in r)
    assert any("▲" in r for r in rows)
    assert "q quit" in rows[-1]


def test_counts_work_both_ways():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("10n"))
        assert session.stepper.index == 10
        await pilot.press(*command("4N"))
        assert session.stepper.index == 6
        await pilot.press(*command("46G"))
        assert session.stepper.index == 45
        await pilot.press(*command("b op:multiply"), *command("end"), *command("2C"))
        multiplies = [v for v, op in session.tape if getattr(op, "name", "") == "multiply"]
        assert session.at == multiplies[-2]
        await pilot.press(*command("2c"))
        assert "1 of 2 stops, then none to the end" in text_of(app)
        await pilot.press(*command("3b"))
        assert "b takes no count; what does: " in text_of(app)

    drive(app, (120, 40), act)


@pytest.mark.parametrize("view", ["passes", "code", "graph", "profile", "tapes"])
def test_counted_steps_go_by_the_unit_of_the_view(view):
    singles, counted_ = (YotaView(counted(mlp_session()), view=view) for _ in range(2))
    seen = []

    def unit(app: YotaView) -> str:
        match = re.search(r"(row|line|pass|op) \d[^·]*", text_of(app).splitlines()[0])
        assert match
        return match[0]

    async def one(pilot: Pilot[int]) -> None:
        await pilot.press("n", "n", "n", "N")
        seen.append((singles.state.session.place, unit(singles)))

    async def many(pilot: Pilot[int]) -> None:
        await pilot.press(*command("3n"), *command("1N"))
        seen.append((counted_.state.session.place, unit(counted_)))

    drive(singles, (120, 40), one)
    drive(counted_, (120, 40), many)
    assert seen[0] == seen[1]


def test_every_counted_action_is_a_key():
    assert set(COUNTED) <= BY_ACTION.keys()


def test_way_back_stops_at_the_seed_and_a_second_key_passes_it():
    app = YotaView(mlp_session())
    session = app.state.session
    seed = session.tape.reverse_start

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("b %7"), "G", "C")
        assert session.at == seed
        assert "C again goes on back" in text_of(app)
        await pilot.press("C")
        assert session.at == Var(7)
        assert "breakpoint %7" in text_of(app)

    drive(app, (80, 24), act)


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_long_run_to_a_stop_can_be_given_up(key, monkeypatch):
    monkeypatch.setattr("yotaview.screens.seeking.PATIENCE", -1.0)
    app = YotaView(big_session(20_000))
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        session.break_at("expr:x.sum() > 1e300")
        app.screen.do_continue()
        assert app.screen.seeking is not None
        await pilot.press(key)
        assert app.screen.seeking is None
        assert "stopped looking after" in text_of(app)
        assert session.stepper.index == 0
        await pilot.press("n")
        assert session.stepper.index == 1

    drive(app, (80, 24), act)


def test_long_run_arrives_when_it_is_over(monkeypatch):
    monkeypatch.setattr("yotaview.screens.seeking.PATIENCE", 1e-9)
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("b expr:x.size == 12"), "n", "n", "c")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert session.tape[session.at].spec.shape == (3, 4)
        assert "breakpoint expr:x.size == 12" in text_of(app)

    drive(app, (120, 40), act)


def test_prompt_offers_and_takes_what_can_be_written():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon")
        assert "where the reverse pass begins" in text_of(app)
        await pilot.press(*typed("b op:mat"), "tab")
        assert app.screen.prompt.input.value == "b op:matmul"
        assert "5 ops" in text_of(app)
        await pilot.press("enter")
        assert "breakpoint op:matmul: 5 stops" in text_of(app)
        await pilot.press(*typed(":se"), "right", "enter")
        assert app.state.session.phase(app.state.session.at) == "seed"
        await pilot.press(*typed(":b "), "down", "down", "down")
        assert app.screen.prompt.input.value == app.screen.prompt.chosen.text
        assert "shown; tab takes it" in text_of(app)
        await pilot.press("escape")
        assert "shown; tab takes it" not in text_of(app)

    drive(app, (80, 24), act)


def test_key_typed_at_once_behind_the_colon_is_not_lost():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        app.screen.action_act("goto")
        assert app.focused is app.screen.prompt.input

    drive(app, (80, 24), act)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sideways", "cannot go to 'sideways': write 46, +10, -10, 10n"),
        ("b zz", "cannot read breakpoint 'zz': write %46, op:log"),
        ("w x", "x is another op at each position"),
        ("p np.load(x)", "no function 'np.load'"),
        ("p %49", "not computed yet (op 49)"),
        ("w h", "no name 'h'"),
    ],
)
def test_errors_at_the_prompt_say_what_can_be_written(text, says):
    shown = screen_of(mlp_session(), (120, 40), command(text))
    assert says in shown
    assert f":{text}" in shown.splitlines()[-1].replace(" :", ":", 1)


def test_marks_are_set_and_gone_to_and_listed():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("apostrophe")
        assert "no mark yet" in text_of(app)
        await pilot.press(*command("20"), *typed("ma"), *command("40"), *typed("mb"))
        lane = next(r for r in text_of(app).splitlines() if r.startswith(" time"))
        assert "a" in lane.removeprefix(" time")
        await pilot.press("g", *typed("'a"))
        assert session.stepper.index == 19
        await pilot.press(*typed("'b"))
        assert session.stepper.index == 39
        await pilot.press(*typed("''"))
        assert session.stepper.index == 19
        await pilot.press("apostrophe")
        assert "op 20: %20" in text_of(app)
        await pilot.press("escape", "question_mark")
        assert "op 20: %20" in text_of(app)
        await pilot.press("escape")
        names = [name for name, _, _ in Actions(app.screen).named]
        assert any("mark a" in name for name in names)

    drive(app, (120, 40), act)


def test_list_of_stops_disables_deletes_jumps_and_adds():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("b op:log"), *command("b nan"), "w", "B")
        assert "hit 0 of 2" in text_of(app)
        await pilot.press("n")
        assert session.op.name == "log"
        assert "hit 1 of 2" in text_of(app)
        await pilot.press("N")
        assert "no stop before the position" in text_of(app)
        await pilot.press("space")
        assert "disabled" in text_of(app)
        assert not session.stops.breaks(session.row_index)[0].enabled
        await pilot.press("down", "d")
        assert [e.text for e in session.stops.of(session.row_index)] == ["op:log", "%1"]
        await pilot.press("a")
        assert app.screen.prompt.input.value == "b "
        await pilot.press(*typed("%9"), "enter")
        assert [e.text for e in session.stops.breaks(session.row_index)] == ["op:log", "%9"]

    drive(app, (80, 24), act)


def test_watch_stops_where_its_cotangent_gains_a_term():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("w d%11"), *command("seed"), "c")
        assert "δ%11: 1 of" in text_of(app)
        assert session.at == session.opened.terms[Var(11)][0].total
        await pilot.press("B")
        assert "1 of" in text_of(app)

    drive(app, (80, 24), act)


def test_code_watches_its_buffer():
    app = YotaView(mlp_session(), view="code")
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*command("41"), "w")
        (entry,) = session.stops.watches(session.row_index)
        assert entry.watch.kind == "buffer"
        before = session.stepper.index
        await pilot.press("C")
        assert session.stepper.index < before

    drive(app, (120, 40), act)


def test_expression_is_evaluated_once_by_its_key():
    shown = screen_of(mlp_session(), (80, 24), ["p", *typed("x.size"), "enter"])
    assert "x.size = 12" in shown


def test_help_names_the_marks():
    session = mlp_session()
    session.marks["q"] = session.place
    page = help_page("step", "tape", 80, [("q", session.place_text(session.place))])
    assert any("op 1: %1" in "".join(s.text for s in row) for row in page.lines)
