from __future__ import annotations

import numpy as np
import pytest

from tests.bench.bench_engine import WORKLOADS, contenders


@pytest.mark.parametrize("make", WORKLOADS, ids=lambda m: m.__name__)
def test_contenders_answer_alike(make):
    answers = {name: call() for name, call in contenders(make)}
    value = answers["plain f"]
    for name, answer in answers.items():
        if name != "plain f":
            assert np.allclose(answer[0], value), name
    flat = {n: a[1:] if n == "simplegrad" else a[1] for n, a in answers.items() if n != "plain f"}
    want = flat.pop("play")
    for name, gradients in flat.items():
        gradients = gradients if isinstance(gradients, tuple | list) else (gradients,)
        assert all(np.allclose(a, b) for a, b in zip(gradients, want, strict=True)), name
