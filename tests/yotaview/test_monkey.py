import pytest

from tests.monkey import play, tapes
from yotaview.keys import VIEWS


@pytest.mark.parametrize("view", VIEWS)
def test_random_keys_break_nothing(view):
    with tapes() as sessions:
        for seed, (name, session) in enumerate(sessions.items()):
            assert play(session, view, name, 24, seed).broken == []
