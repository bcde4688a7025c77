"""Random functions over random state: `python -m tests.stale` runs as many as are wanted."""

from __future__ import annotations

import warnings

import pytest

import yota
from tests.stale.__main__ import Outcome, play

SEQUENCES = 8


@pytest.mark.parametrize("first", range(0, 24, SEQUENCES))
def test_random_functions_over_random_state_are_never_stale(first):
    yota.reset()
    outcome = Outcome()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + SEQUENCES):
            play(seed, outcome)
    assert not outcome.wrong, outcome.wrong[0]
    # else it would show nothing: most are answered from the cache, and the answers change
    assert outcome.quick >= SEQUENCES // 2
    assert outcome.hits >= outcome.calls // 8
    assert outcome.changed > outcome.calls // 8
