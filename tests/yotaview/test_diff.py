"""Two calls compared: what is the same op, what is not, and from where on values went apart."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.yotaview.scripts import LOOP, captured
from yota.tape import Var
from yotaview.model.align import align, in_order
from yotaview.model.diff import Diff, compare
from yotaview.model.goto import GotoError
from yotaview.model.runs import first_apart, meeting, paired_rows
from yotaview.model.sequences import MOST_CELLS, _anchors, matched_in_order
from yotaview.model.session import Session
from yotaview.render.diff import diff_lines, structure_text
from yotaview.render.diff_json import diff_json
from yotaview.render.diff_rows import DiffRows
from yotaview.render.line import plain, width

NET = """\
import numpy as np
import yota

rng = np.random.default_rng(0)
x = rng.standard_normal((6, 3))
y = rng.uniform(size=(6, 1))


def loss(W1, b1, W2):
    z = x @ W1
    a = z + b1
    h = np.tanh(a)
    s = h @ W2
    p = 1.0 / (1.0 + np.exp(-s))
    e = p - y
    q = e * e
    r = np.sum(W1 * W1)
    return np.mean(q) + 0.01 * r


W1, b1, W2 = (0.3 * rng.standard_normal(n) for n in ((3, 4), 4, (4, 1)))
yota.grad(loss, W1, b1, W2)
"""
CHAIN = """\
import numpy as np
import yota


def loss(w):
    for k in range(5):
        w = np.sin(w) * 1.5
    return np.sum(w)


yota.grad(loss, np.ones(3))
"""
H = "    h = np.tanh(a)\n"
RETURN = "    return np.mean(q) + 0.01 * r\n"
# base, what is replaced by what, and how many forward ops are then changed, deleted, inserted
EDITS = {
    "another function": (NET, {"np.tanh(a)": "np.sin(a)"}, (1, 0, 0)),
    "op inserted": (NET, {H: f"{H}    h = h * 0.5\n"}, (1, 0, 1)),
    "op deleted": (NET, {"a = z + b1": "a = z"}, (1, 1, 0)),
    "another literal": (NET, {"0.01 * r": "0.02 * r"}, (1, 0, 0)),
    "another reduction": (NET, {"np.mean(q)": "np.sum(q)"}, (1, 0, 0)),
    "fewer operands": (NET, {"np.sum(W1 * W1)": "np.sum(np.abs(W1))"}, (1, 1, 1)),
    "statements swapped": (
        NET,
        {"    q = e * e\n    r = np.sum(W1 * W1)\n": "    r = np.sum(W1 * W1)\n    q = e * e\n"},
        (0, 0, 0),
    ),
    "op at the beginning": (
        NET,
        {"    z = x @ W1": "    W1 = W1 * 2.0\n    z = x @ W1"},
        (2, 0, 1),
    ),
    "op at the end": (NET, {RETURN: "    return (np.mean(q) + 0.01 * r) * 2.0\n"}, (0, 0, 1)),
    "op without use": (NET, {H: f"{H}    dead = np.exp(a)\n"}, (0, 0, 1)),
    "operands swapped": (NET, {"e = p - y": "e = y - p"}, (1, 0, 0)),
    "op twice": (NET, {"np.tanh(a)": "np.tanh(np.tanh(a))"}, (1, 0, 1)),
    "one round more": (CHAIN, {"range(5)": "range(6)"}, (1, 0, 2)),
    "one round less": (CHAIN, {"range(5)": "range(4)"}, (1, 2, 0)),
    "argument renamed": (
        NET,
        {"def loss(W1, b1, W2)": "def loss(W1, bias, W2)", "z + b1": "z + bias"},
        (1, 0, 0),
    ),
    "variable renamed": (NET, {H: "    hidden = np.tanh(a)\n", "h @ W2": "hidden @ W2"}, (0, 0, 0)),
    "comment inserted": (NET, {H: f"    # squash\n\n{H}"}, (0, 0, 0)),
    "other size": (NET, {"(6, 3)": "(9, 3)", "(6, 1)": "(9, 1)"}, (12, 0, 0)),
    "two functions": (NET, {"np.tanh(a)": "np.sin(a)", "np.mean(q)": "np.sum(q)"}, (2, 0, 0)),
    "inserted and deleted": (
        NET,
        {"    z = x @ W1": "    W1 = np.exp(W1)\n    z = x @ W1", " + 0.01 * r": ""},
        (2, 2, 1),
    ),
    "another power": (NET, {"q = e * e": "q = e**3"}, (1, 1, 1)),
    "other order of adding": (NET, {"np.mean(q) + 0.01 * r": "0.01 * r + np.mean(q)"}, (1, 0, 0)),
}


def compared(folder: Path, first: str, second: str) -> Diff:
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    return compare(Session(captured(folder / "a", first)), Session(captured(folder / "b", second)))


def edited(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("name", EDITS)
def test_edit_is_found_and_nothing_else_is_matched(tmp_path: Path, name: str) -> None:
    base, changes, counts = EDITS[name]
    diff = compared(tmp_path, base, edited(base, changes))
    forward = [c for c in diff.changes if not is_reverse(diff, c)]
    kinds = Counter(c.kind for c in forward)
    assert (kinds["changed"], kinds["deleted"], kinds["inserted"]) == counts
    assert_no_false_match(diff)


def is_reverse(diff: Diff, change) -> bool:
    if change.left is not None:
        return diff.left.tape.is_reverse(change.left)
    return diff.right.tape.is_reverse(change.right)


def assert_no_false_match(diff: Diff) -> None:
    """Hold each pair against the source: same line, same place among its ops; same derivative."""
    ours, theirs = places(diff.left), places(diff.right)
    pairs = {c.left: c.right for c in diff.changes if c.left and c.right}
    shared = {line for line, _ in ours.values()} & {line for line, _ in theirs.values()}
    for a, b in pairs.items():
        x, y = diff.left.tape[a].origin, diff.right.tape[b].origin
        if diff.left.tape.is_reverse(a):
            assert (pairs.get(x.of), x.role) == (y.of, y.role)
        elif ours[a][0] in shared or theirs[b][0] in shared:
            assert ours[a] == theirs[b]
    assert {v for v, p in ours.items() if p in theirs.values()} <= pairs.keys()


def places(side) -> dict[Var, tuple[str, int]]:
    """Return for each forward op its source line and which op of that line it is."""
    seen: Counter[str] = Counter()
    found = {}
    for var, op in side.tape:
        if not side.tape.is_reverse(var):
            text = f"{side.text_of(op)} {op.name}"
            found[var] = (text, seen[text])
            seen[text] += 1
    return found


def test_values_that_moved_apart_are_named_from_the_first_on(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, edited(NET, {"np.tanh(a)": "np.sin(a)"}))
    assert diff.first is not None
    assert diff.first.left is not None
    op = diff.left.tape[diff.first.left]
    assert (op.name, diff.first.what) == ("tanh", ("tanh → sin",))
    x, y = (s.session.recorded(diff.first.left) for s in (diff.left, diff.right))
    off = np.abs(x - y) / np.spacing(np.abs(x))
    assert diff.first.delta is not None
    assert diff.first.delta.worst.ulp == pytest.approx(off.max(), rel=1e-6)
    assert diff.first.delta.worst.index == np.unravel_index(np.argmax(off), off.shape)
    assert diff.first.delta.relative == pytest.approx(
        np.abs(x - y).max() / max(np.abs(x).max(), np.abs(y).max())
    )


def test_rounding_is_told_from_a_change(tmp_path: Path) -> None:
    changes = {"np.mean(q) + 0.01 * r": "np.mean(q) + (0.01 + 1e-13) * r", "p - y": "p - y - 1e-17"}
    diff = compared(tmp_path, NET, edited(NET, changes))
    assert diff.first is not None
    assert diff.first_large is None
    assert not diff.equal
    assert 0 < max(diff.growth) < 1e6


def test_gradients_are_compared_by_name(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, edited(NET, {RETURN: RETURN.replace("return", "return 3 *")}))
    ratios = {r.name: r for r in diff.ratios}
    assert ratios.keys() == {"W1", "b1", "W2"}
    assert ratios["b1"].right == pytest.approx(3 * ratios["b1"].left)
    assert ratios["b1"].relative == pytest.approx(2.0)


def test_same_run_is_equal(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, NET)
    assert diff.equal
    assert diff.same_structure
    assert [r.relative for r in diff.ratios] == [0.0] * 3
    assert "equal to the last bit in all" in plain(diff_lines(diff, 80))
    assert len(list(diff_json(diff))) == 1


def test_both_sides_say_what_they_are(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, NET)
    titles = diff.left.title, diff.right.title
    assert titles[0] != titles[1]
    for title, folder in zip(titles, "ab", strict=True):
        assert f"{folder}/script.py › tape 1 loss, call 1 of 1" in title
    lines = plain(diff_lines(diff, 80)).splitlines()
    assert lines[0].startswith("left")
    assert any(line.startswith("right") for line in lines)


@pytest.mark.parametrize("room", [80, 120, 200])
def test_rows_fit_and_name_every_difference(tmp_path: Path, room: int) -> None:
    changes = {"np.tanh(a)": "np.sin(a)", "    e = p - y": "    p = p * 0.5\n    e = p - y"}
    diff = compared(tmp_path, NET, edited(NET, changes))
    rows = DiffRows(diff, room)
    assert all(width(row) <= room for row in rows)
    shown = [e.change for e in rows.entries if e.change is not None]
    differing = [c for c in diff.changes if c.differs]
    assert [c for c in dict.fromkeys(map(id, shown)) if c in set(map(id, differing))] == list(
        map(id, differing)
    )
    assert len(rows.stops) >= len(differing)
    skipped = sum(e.skipped for e in rows.entries)
    assert skipped + len(set(map(id, shown))) == len(diff.changes)
    text = plain(rows)
    for word in ("np.tanh(a)", "np.sin(a)", "p = p * 0.5"):
        assert word in text


def test_json_has_a_line_for_each_difference(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, edited(NET, {H: f"{H}    h = h * 0.5\n"}))
    head, *lines = map(json.loads, diff_json(diff))
    assert head["structure"] is False
    assert head["inserted"] == diff.counts["inserted"]
    assert len(lines) == sum(c.differs for c in diff.changes)
    (new,) = (line for line in lines if line["kind"] == "inserted" and line["fn"][1] == "multiply"
              and line["source"][1] == "h = h * 0.5" and line["what"] == [] and
              not diff.right.tape.is_reverse(Var(line["id"][1])))  # fmt: skip
    assert new["id"][0] is None


def test_structure_is_told_in_a_line(tmp_path: Path) -> None:
    diff = compared(tmp_path, NET, edited(NET, {"np.tanh(a)": "np.sin(a)"}))
    told = structure_text(diff)
    assert all(f"{n} {kind}" in told for kind, n in diff.counts.items() if n)


def test_training_runs_meet_at_the_first_call_that_differs(tmp_path: Path) -> None:
    text = LOOP.format(count=60)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    a = captured(tmp_path / "a", text)
    b = captured(tmp_path / "b", text.replace("0.01", "(0.01 if step < 40 else 0.02)"))
    assert first_apart(a.rows[0], b.rows[0]) == 42
    met = meeting(a.rows[0], b.rows[0])
    assert (met.left, met.right, met.equal) == (42, 42, False)
    assert "60 calls, equal before call 42: value " in met.history[0]
    b.rows[0].calls = [c for c in b.rows[0].calls if c.number not in range(42, 50)]
    met = meeting(a.rows[0], b.rows[0])
    assert met.left == 50
    assert met.history[1] == "call 42 is not kept on both sides: call 50 is compared"
    same = meeting(a.rows[0], a.rows[0])
    assert (same.left, same.equal) == (60, True)
    b.rows[0].calls = b.rows[0].calls[:1]
    a.rows[0].calls = a.rows[0].calls[1:]
    with pytest.raises(GotoError, match="no call of loss is kept on both sides"):
        meeting(a.rows[0], b.rows[0])


def test_rows_are_paired_by_function_and_order(tmp_path: Path) -> None:
    text = "import yota\ndef f(x):\n    return x * x\ndef g(x):\n    return x * 3\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = captured(tmp_path / "a", f"{text}yota.grad(f, 1.0)\nyota.grad(g, 1.0)\n")
    second = captured(tmp_path / "b", f"{text}yota.grad(g, 1.0)\nyota.grad(g, 2.0)\n")
    assert paired_rows(first, second) == [(0, None), (1, 0), (None, 1)]


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_common_subsequence_is_one_and_the_longest(a: list[int], b: list[int]) -> None:
    found = matched_in_order(a, b)
    assert all(a[i] == b[k] for i, k in found)
    assert all(x < y for x, y in pairwise(found) for x, y in zip(x, y, strict=True))
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for k in range(len(b)):
            same = best[i][k] + 1 if a[i] == b[k] else 0
            best[i + 1][k + 1] = max(same, best[i][k + 1], best[i + 1][k])
    assert len(found) == best[-1][-1]


def test_very_long_sequences_are_matched_about_what_stands_once() -> None:
    n = int(MOST_CELLS**0.5) + 10
    a = [k if k % 3 else -1 for k in range(n)]
    b = [*a[: n // 2], "new", *a[n // 2 :]]
    found = matched_in_order(["first", *a], ["other", *b])
    assert len(found) == n
    assert [*_anchors("abc", "cab")] == [(0, 1), (1, 2)]
    assert matched_in_order([0, 1] * n, [1, 0, 0] * n) == []


@given(st.permutations(range(8)))
def test_longest_rising_run_of_pairs(order: list[int]) -> None:
    pairs = [(Var(k + 1), Var(n + 1)) for k, n in enumerate(order)]
    kept = [dict(pairs)[v].id for v in in_order(pairs)]
    assert kept == sorted(kept)
    best: list[int] = []
    for n in order:
        best.append(1 + max((best[k] for k in range(len(best)) if order[k] < n), default=0))
    assert len(kept) == max(best)


def test_alignment_of_long_tapes_is_whole(tmp_path: Path) -> None:
    text = CHAIN.replace("range(5)", "range(1500)")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = Session(captured(tmp_path / "a", text)).tape
    second = Session(captured(tmp_path / "b", text.replace("1500", "1501"))).tape
    pairs = align(first, second, lambda op: op.origin.place, lambda op: op.origin.place)
    assert len(pairs) == len(first)


@pytest.mark.parametrize(
    ("by", "told"), [(3.0, "1 → 3, rel 0.67"), (1 + 1e-12, "4504 ulp, rel 1e-12")]
)
def test_values_far_apart_are_told_as_numbers_near_ones_in_ulp(tmp_path, by, told):
    text = LOOP.format(count=2).replace("w = w - 0.01 * g[0]", f"w = w * {by!r}")
    capture = captured(tmp_path, text)
    diff = compare(Session(capture, 0, 0), Session(capture, 0, 1))
    row = next(r for r in plain(diff_lines(diff, 80)).splitlines() if r.startswith("≠ %1 "))
    assert row.endswith(told)


def test_captured_values_of_a_loop_are_paired_with_those_of_the_same_round(tmp_path: Path) -> None:
    text = CHAIN.replace(
        "    for k in range(5):\n        w = np.sin(w) * 1.5\n",
        "    for x in X[:20]:\n        w = np.sin(w) * x\n",
    )
    text = text.replace("def loss", "X = np.linspace(1.0, 2.0, 40).reshape(20, 2)\n\n\ndef loss")
    text = text.replace("np.ones(3)", "np.ones(2)")
    for changes in ({"X[:20]": "X[:18]"}, {"X[:20]": "X[2:]"}):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        diff = compared(folder, text, edited(text, changes))
        read = {
            v: c.left
            for c in diff.changes
            if c.left is not None and not is_reverse(diff, c)
            for v in getattr(diff.left.tape[c.left], "operands", ())
        }
        captured = [
            c
            for c in diff.changes
            if c.kind == "same" and c.left in read and hasattr(diff.left.tape[c.left], "value")
        ]
        assert captured
        for c in captured:
            user = next(d for d in diff.changes if d.left == read[c.left])
            assert user.right is not None
            assert c.right in diff.right.tape[user.right].operands
