"""Ops of SciPy's functions under names that find them again in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from scipy import special as plain

from yota.rules.lazily import learn_by_name
from yota.scipy import linalg, stats
from yota.scipy.linalg.factors import factor_matrix
from yotaview.capture.functions import name_of, resolve

FUNCTIONS = (
    plain.erf,
    plain._ufuncs._zeta,
    linalg.expm,
    factor_matrix,
    stats.norm.logpdf,
    stats.poisson.pmf,
)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_function_is_found_by_its_name(fn: object) -> None:
    name = name_of(fn)
    assert name is not None
    assert resolve(name) is fn


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_fresh_process_finds_it_too(fn: Any) -> None:
    code = (
        f"from yotaview.capture.functions import resolve; print(resolve({name_of(fn)!r}).__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == fn.__name__, run.stderr


@pytest.mark.parametrize("name", ["os.system", "yota.scipy.nothing.f", "scipy.stats.norm", "f", ""])
def test_no_other_name_imports_anything(name: str) -> None:
    assert not learn_by_name(name)
    assert resolve(name) is None


def test_a_saved_session_replays_scipys_functions(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, yota\n"
        "from scipy import special\n"
        "from yota.scipy import linalg, stats\n"
        "def f(a):\n"
        "    return np.sum(linalg.expm(a)) + special.erf(a[0, 0]) + stats.norm.logpdf(a[1, 1])\n"
        "print(yota.grad(f, np.eye(2) * 0.3))\n"
    )
    saved = tmp_path / "saved.yota"
    for arguments in ([str(script), "-o", str(saved)], [str(saved), "--text"]):
        (*options,) = arguments[1:]
        command = [sys.executable, "-m", "yotaview", *options, arguments[0]]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    assert "norm_logpdf(" in run.stdout
    assert "not run again" not in run.stdout
