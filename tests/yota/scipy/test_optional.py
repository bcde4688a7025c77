"""SciPy is optional: nothing imports it by itself, and its absence is explained."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules['scipy'] = None\n"


def run(code: str) -> str:
    """Return what a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_and_using_the_engine_imports_no_scipy() -> None:
    code = (
        "import sys, numpy as np, yota, yota.numpy, yota.check\n"
        "yota.grad(lambda x: np.sum(np.linalg.norm(np.sin(x)) + np.i0(x)), np.ones(2))\n"
        "print([m for m in sys.modules if m.split('.')[0] == 'scipy'])"
    )
    assert run(code) == "[]\n"


def test_the_engine_works_without_scipy() -> None:
    code = "import yota, numpy as np; print(yota.grad(np.exp, 0.0)[1][0])"
    assert run(WITHOUT + code) == "1.0\n"


@pytest.mark.parametrize("name", ["yota.scipy", "yota.scipy.linalg", "yota.scipy.stats"])
def test_the_namespace_without_scipy_names_the_cure(name: str) -> None:
    code = f"try:\n    import {name}\nexcept ImportError as error:\n    print(error)"
    assert "pip install 'yotaview[scipy]'" in run(WITHOUT + code)


def test_parts_are_imported_when_they_are_asked_for() -> None:
    pytest.importorskip("scipy")
    code = (
        "import sys, yota.scipy as sp\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "sp.linalg.expm\n"
        "assert 'scipy.linalg' in sys.modules and 'scipy.stats' not in sys.modules\n"
        "assert {'linalg', 'stats'} <= set(dir(sp))\n"
        "try: sp.nothing\n"
        "except AttributeError as error: print(error)"
    )
    assert "nothing" in run(code)
