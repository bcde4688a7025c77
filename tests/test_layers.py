"""Who may import whom, as it happens when the modules are really imported."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = ("textual", "rich")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_engine_imports_neither_viewer_nor_screen():
    loaded = loaded_after("import yota, yota.numpy, yota.check")
    assert not loaded & {"yotaview", "graphviz", *HEAVY}


@pytest.mark.parametrize(
    "module",
    ["capture", "model.session", "model.store", "checks", "export", "headless", "cli"],
)
def test_what_draws_nothing_imports_no_screen(module):
    assert not loaded_after(f"import yotaview.{module}") & set(HEAVY)


# bloomberg/memray#597, bloomberg/memray#648, bloomberg/memray#734: new versions broke a screen
def test_the_screens_library_is_bounded_above():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (bounds,) = (d.removeprefix("textual") for d in project["dependencies"] if "textual" in d)
    major = int(version("textual").partition(".")[0])
    assert f"<{major + 1}" in bounds.split(",")


def test_no_renderer_imports_a_screen():
    statement = (
        "import importlib, pkgutil, yotaview.render as r\n"
        "for m in pkgutil.iter_modules(r.__path__):\n"
        "    importlib.import_module(f'yotaview.render.{m.name}')"
    )
    assert not loaded_after(statement) & set(HEAVY)
