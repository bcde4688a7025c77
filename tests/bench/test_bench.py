from __future__ import annotations

import numpy as np
import pytest

from tests.bench.bench_engine import contenders
from tests.bench.models import MODELS


@pytest.mark.parametrize("make", MODELS, ids=lambda m: m.__name__)
def test_contenders_answer_alike(make):
    answers = {name: call() for name, call in contenders(make)}
    value = answers.pop("plain f")
    want = answers["play"][1]
    for name, (found, *gradients) in answers.items():
        assert np.allclose(found, value), name
        gradients = gradients if name == "simplegrad" else gradients[0]
        gradients = gradients if isinstance(gradients, tuple | list) else (gradients,)
        assert all(np.allclose(a, b) for a, b in zip(gradients, want, strict=True)), name
