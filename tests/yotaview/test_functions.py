"""Which ops would run the user's code, and are therefore shown as they were, not run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yota
from yota.rules.registry import primitive
from yota.tape import Call
from yotaview.capture.functions import is_users, name_of
from yotaview.model.single import session_of


def test_a_users_function_under_a_name_of_numpys_is_the_users() -> None:
    def hanning(x: Any) -> Any:
        return x

    hanning.__module__ = "numpy"
    assert name_of(primitive(hanning)) is None
    assert name_of(np.exp) == "numpy.exp"


class Fill:
    """A padding mode as an object of the user's."""

    runs = 0

    def __call__(self, vector: Any, width: Any, axis: int, kwargs: Any) -> None:
        Fill.runs += 1
        vector[: width[0]] = 7.0


def pad(vector: Any, width: Any, axis: int, kwargs: Any) -> None:
    Fill()(vector, width, axis, kwargs)


@pytest.mark.parametrize("mode", [pad, Fill()])
def test_a_function_of_the_users_among_the_operands_is_not_run_again(
    mode: Any, tmp_path: Path
) -> None:
    _, tape = yota.trace(lambda x: np.sum(np.pad(x, 1, mode=mode)), np.ones(3))
    (op,) = (op for _, op in tape if op.name == "pad")
    assert isinstance(op, Call)
    assert is_users(op)
    before = Fill.runs
    session = session_of(tape)
    values = [session.recorded(v) for v in session.stepper.order]
    assert values[-1] == 10.0
    assert Fill.runs == before


def test_plain_operands_of_every_kind_are_data() -> None:
    def f(x: Any) -> Any:
        picked = np.take(np.pad(x, ((1, 0),), mode="edge"), np.array([0, 2]), axis=np.int64(0))
        return np.sum(picked[..., ::2], dtype=np.float64, initial=0.5)

    tape = yota.gradtape(f, np.ones(3))
    assert not any(is_users(op) for _, op in tape if isinstance(op, Call))
