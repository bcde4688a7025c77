"""A call as a page of HTML: whole in one file, well formed, and the same each time."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.yotaview.screen_text import drive, mlp_session, text_of
from tests.yotaview.scripts import FAILS, captured, opened
from tests.yotaview.sessions import reopened
from yota.tape import Input
from yotaview import cli
from yotaview.app import YotaView
from yotaview.export import ExportError, Selection, export
from yotaview.model.session import Session
from yotaview.render import replay
from yotaview.render.line import ROLES
from yotaview.render.replay import MOST_TEXT, replay_page
from yotaview.render.svg import LayoutError

VOID = {"meta", "link", "br", "img", "input", "hr"}
FETCHING = {"src", "href", "srcset", "action", "poster", "data", "formaction", "background"}


class Page(HTMLParser):
    """Elements, texts by element, and what is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(dict(attrs)) < len(attrs):
            self.faults.append(f"{tag} has an attribute twice")
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        own = self.stack[-1] if self.stack else ""
        self.texts[own] = self.texts.get(own, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def text() -> str:
    return replay_page(mlp_session())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_page_is_well_formed_with_ids_of_its_own(page: Page) -> None:
    assert (page.faults, page.stack) == ([], [])
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert page.all("html")[0]["lang"] == "en"


# kikocorreoso/tutormagic#8, google-deepmind/treescope#4, bloomberg/memray#497
def test_page_asks_the_network_for_nothing(page: Page, text: str) -> None:
    for tag, attrs in page.tags:
        for name in FETCHING & {n.rpartition(":")[2] for n in attrs}:
            assert (attrs.get(name) or attrs.get(f"xlink:{name}") or "").startswith("#"), tag
    assert not {"link", "img", "iframe", "object", "embed", "base", "image", "use"} & {
        tag for tag, _ in page.tags
    }
    named = re.sub(r'xmlns(:xlink)?="[^"]*"', "", text)
    assert not re.search(r"https?:|//\w+\.|url\(|@import|fetch\(|import\(|XMLHttp", named)
    policy = next(a["content"] for a in page.all("meta") if "http-equiv" in a) or ""
    digest = hashlib.sha256(page.texts["script"].encode()).digest()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_page_holds_every_step_and_leads_to_each(page: Page) -> None:
    session = mlp_session()
    numbers = [f"op-{v.id}" for v in session.tape.ops]
    assert [a["id"] for a in page.all("li")] == numbers
    steps = [a["id"] for a in page.all("article")]
    assert steps == [f"t{k}" for k in range(1, len(numbers) + 1)]
    assert [a["href"] for a in page.all("a") if "href" in a] == [f"#{t}" for t in steps]
    drawn = {a["id"] for _, a in page.tags if str(a.get("id")).startswith("drawn-op-")}
    assert drawn >= {f"drawn-{n}" for n in numbers}
    assert [a["id"] for a in page.all("article") if "data-first" in a] == ["t1"]
    last = page.all("article")[-1]["data-said"]
    assert last is not None
    assert last.startswith(f"op 49/49, {session.stepper.last().at} ")


def test_page_needs_no_pointer_and_no_eyes(page: Page, text: str) -> None:
    assert {a.get("aria-keyshortcuts") for a in page.all("button")} == {
        "ArrowLeft", "ArrowRight", "Home", "End",
    }  # fmt: skip
    assert all(key in text for key in ("ArrowLeft:", "ArrowRight:", 'aria-live="polite"'))
    assert all(a.get("aria-label") for a in (*page.all("article"), *page.all("pre")))
    assert all("on" not in name[:2] for _, attrs in page.tags for name in attrs)


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours as WCAG 2.1 defines it."""

    def luminance(color: str) -> float:
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_every_role_can_be_read_in_both_schemes(text: str) -> None:
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in text.split("@media")[:2]]
    light, dark = schemes
    assert light.keys() == dark.keys()
    for colors in schemes:
        for name, color in colors.items():
            if name not in ("ground", "edge", "now"):
                assert contrast(color, colors["ground"]) >= 4.5, name
        assert contrast(colors["ink"], colors["now"]) >= 4.5
    for role in ROLES:
        assert f".{role}" in text


def test_page_is_the_same_each_time_and_out_of_a_file(tmp_path: Path) -> None:
    capture = captured(tmp_path, SMALL)
    for name in ("a.html", "b.html"):
        export(str(tmp_path / name), Selection(capture, [Session(capture)]))
    again = reopened(capture, tmp_path)
    export(str(tmp_path / "c.html"), Selection(again, [Session(again)]))
    first, *others = ((tmp_path / f"{n}.html").read_bytes() for n in "abc")
    assert others == [first, first]


SMALL = """\
import numpy as np
import yota


def loss(w):
    return np.sum(np.sin(w) ** 2)


yota.grad(loss, np.arange(3.0))
"""
EVIL = "</script><img src=x onerror='alert(1)'>&\\\"--><svg onload=alert(2)>"
HOSTILE = f"""\
import numpy as np
import yota


def loss(params):  # </pre><script>alert(3)</script><!-- {EVIL}
    return np.sum(params["{EVIL}"] ** 2)


yota.grad(loss, {{"{EVIL}": np.arange(3.0)}})
"""


def test_names_and_source_lines_are_text_only(tmp_path: Path) -> None:
    session = opened(tmp_path, HOSTILE)
    assert any("</script>" in op.name for _, op in session.tape if isinstance(op, Input))
    page = Page(replay_page(session))
    assert (page.faults, page.stack) == ([], [])
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert len(page.all("svg")) == 1
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "<img src=x" in page.texts["pre"] + page.texts["span"]
    assert "\x1b" not in replay_page(session)


def test_long_tape_shows_the_steps_around_the_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_STEPS", 10)
    session = mlp_session().still()
    session.stepper = session.stepper.to(30)
    text = replay_page(session)
    page = Page(text)
    assert "10 of 49 steps shown: 26 to 35" in text
    assert [a["id"] for a in page.all("article")] == [f"t{k}" for k in range(26, 36)]
    assert [a["id"] for a in page.all("article") if "data-first" in a] == ["t31"]


# bloomberg/memray#987
def test_page_keeps_to_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_TEXT", 20_000)
    text = replay_page(mlp_session())
    shown = len(Page(text).all("article"))
    assert 1 < shown < 49
    assert f"{shown} of 49 steps shown: 1 to {shown}" in text


CHAIN = """\
import numpy as np
import yota


def f(x):
    for _ in range(900):
        x = np.sin(x)
    return np.sum(x)


yota.grad(f, np.zeros((20, 20)))
"""


def test_page_of_thousands_of_ops_stays_small(tmp_path: Path) -> None:
    session = opened(tmp_path, CHAIN)
    text = replay_page(session)
    assert len(session.tape) > 2_000
    assert f"1,000 of {len(session.tape):,} steps shown: 1 to 1,000" in text
    assert len(text) < 2 * MOST_TEXT


def test_call_that_raised_ends_with_what_raised(tmp_path: Path) -> None:
    session = opened(tmp_path, FAILS)
    page = Page(replay_page(session))
    assert page.faults == []
    last = page.all("article")[-1]
    assert last["data-place"] == "raised"
    assert "matmul" in (last["data-said"] or "")
    assert "data-first" in last


def test_alerts_and_the_seed_are_marked_in_the_list(tmp_path: Path) -> None:
    session = opened(tmp_path, SMALL.replace("np.sin(w)", "np.log(w)"))
    rows = re.findall(r'<li id="op-(\d+)"><a [^>]*>(.*?)</a>', replay_page(session))
    marked = {int(n) for n, row in rows if row.startswith('<span class="alert">!</span>')}
    assert marked == {a.var.id for a in session.alarms} != set()
    assert sum('<span class="seed">◆</span>' in row for _, row in rows) == 1


def test_page_without_a_drawing_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> str:
        raise LayoutError("took too <long>")

    monkeypatch.setattr(replay, "tape_svg", never)
    text = replay_page(mlp_session())
    assert "no drawing of the tape: took too &lt;long&gt;" in text
    assert not Page(text).all("svg")


def test_what_if_is_no_record(tmp_path: Path) -> None:
    session = opened(tmp_path, SMALL)
    session.forks.add("w *= 2")
    session.opened = session.forks.opened()
    assert "a what-if, not what was recorded: w *= 2" in replay_page(session)


def test_other_stages_are_refused(tmp_path: Path) -> None:
    session = mlp_session()
    path = tmp_path / "x.html"
    with pytest.raises(ExportError, match="tape as recorded, not cse"):
        export(str(path), Selection(session.capture, [session], "cse"))
    assert not path.exists()


def test_command_line_writes_the_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "s.py"
    script.write_text(SMALL)
    path = tmp_path / "s.html"
    assert cli.main(["-o", str(path), str(script)]) == 0
    assert f"wrote {path} (tape 1 loss, call 1)" in capfd.readouterr().err
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_key_writes_the_page_from_the_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = YotaView(mlp_session())

    async def act(pilot: Any) -> None:
        await pilot.press("n", "n", "x", *"a.html", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "wrote a.html" in text_of(app)

    drive(app, (120, 40), act)
    page = Page((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert [a["id"] for a in page.all("article") if "data-first" in a] == ["t3"]
