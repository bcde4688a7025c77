from __future__ import annotations

import re

import yota
from tests.readme import README, updated


def test_generated_parts_are_current():
    text = README.read_text(encoding="utf-8")
    assert updated(text) == text, "run: python tests/readme.py"


def test_pictures_that_the_readme_shows_exist():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert pictures
    assert all((README.parent / p).is_file() for p in pictures)


def test_every_public_name_is_in_the_readme():
    text = README.read_text(encoding="utf-8")
    shown = [n for n in yota.__all__ if not n.endswith("Error") and n != "GradResult"]
    assert [n for n in shown if f"yota.{n}" not in text] == []


def test_the_public_names_are_the_documented_ones():
    assert sorted(yota.__all__) == yota.__all__
    for name in yota.__all__:
        assert getattr(yota, name).__doc__, name
