import pytest

from tests.yotaview.screen_text import drive, mlp_session, text_of
from yotaview.app import YotaView
from yotaview.keymap import KeymapError, read_keymap, use_keymap
from yotaview.keys import BY_ACTION, KEYS, REBOUND, keys_text


@pytest.fixture
def keymap(tmp_path):
    def write(text):
        path = tmp_path / "keys.toml"
        path.write_text(text)
        return str(path)

    yield write
    REBOUND.clear()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nxt = 'j'", "no action 'nxt'; near it: next"),
        ("zzzz = 'j'", "no action 'zzzz'; --keys lists them"),
        ("next = 'N'", "N would mean both next and previous"),
        ("next = 7", "next needs a key or a list of keys"),
        ("next = []", "next needs a key or a list of keys"),
        ("next = '^enter'", "is no key that every terminal sends"),
        ("next = '^q'", "is no key that every terminal sends"),
        ("next = 'xx'", "is no key that every terminal sends"),
        ("next = ", "Invalid value"),
    ],
)
def test_keymap_that_cannot_be_used_says_what_can_be_written(keymap, text, told):
    path = keymap(text)
    with pytest.raises(KeymapError, match=r"keys\.toml: ") as error:
        use_keymap(path)
    assert told in str(error.value)
    assert not REBOUND


def test_missing_keymap_is_named(tmp_path):
    with pytest.raises(KeymapError, match=r"none\.toml: No such file"):
        read_keymap(str(tmp_path / "none.toml"))


def test_keys_are_read_as_the_help_shows_them(keymap):
    path = keymap('next = ["space", "^n"]\nexport = "F5"\nwhy = "~"\ncopy_file = "F6"\ncopy = "_"')
    assert read_keymap(path) == {
        "next": ("space", "ctrl+n"),
        "export": ("f5",),
        "why": ("tilde",),
        "copy_file": ("f6",),
        "copy": ("underscore",),
    }


def test_every_usual_key_can_be_written_in_a_keymap(keymap):
    lines = [
        f"{k.action} = [{', '.join(repr(w) for w in k.show.split())}]"
        for k in KEYS
        if k.action not in ("focus_previous",)
    ]
    found = read_keymap(keymap("\n".join(lines)))
    assert all(found[a] == BY_ACTION[a].usual for a in found)


def test_own_keys_work_and_stand_in_help_footer_and_list(keymap):
    moves = 'next = ["space", "J"]\nnext_access = "U"\nprevious = "F7"\nrow_down = "F6"\n'
    use_keymap(keymap(f'{moves}breakpoint = "F5"\n'))
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("space", "space", "f7")
        assert app.state.session.stepper.index == 1
        await pilot.press("n")
        assert app.state.session.stepper.index == 1
        await pilot.press("f5")
        assert len(app.state.session.breakpoints) == 1
        await pilot.press("f6")
        assert app.state.session.stepper.index == 2
        assert "space/F7 next/prev" in text_of(app)
        await pilot.press("colon", *"5J", "enter")
        assert app.state.session.stepper.index == 7
        await pilot.press("colon", *"5n", "enter")
        assert app.state.session.stepper.index == 12
        await pilot.press("question_mark")
        assert "space J  next op" in text_of(app)

    drive(app, (120, 40), act)
    assert "space" in next(row for row in keys_text().splitlines() if " next " in row)
