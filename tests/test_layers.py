"""Who may import whom, as it happens when the modules are really imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


def test_no_renderer_imports_a_screen():
    statement = (
        "import importlib, pkgutil, yotaview.render as r\n"
        "for m in pkgutil.iter_modules(r.__path__):\n"
        "    importlib.import_module(f'yotaview.render.{m.name}')"
    )
    assert not loaded_after(statement) & set(HEAVY)
