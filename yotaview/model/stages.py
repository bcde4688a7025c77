"""The values of a stage behind the recorded tape: what the passes put there is run again, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yota import floats
from yota.kernels import KERNELS
from yota.tape import Call, Tape, Var
from yotaview.capture.functions import is_users
from yotaview.model.bounds import Bounds
from yotaview.model.replay import Replayed

# what the forms put in the place of NumPy's functions
_MADE = frozenset({*floats.PYTHON.values(), floats.float64, floats.plain, *KERNELS})


def runs_users_code(op: Call) -> bool:
    """Tell whether running an op of a stage would run code of the user's."""
    try:
        made = op.fn in _MADE
    except TypeError:
        made = False
    return not made and is_users(op)


class StageReplay(Replayed):
    """A replay that knows the functions of the forms."""

    def refuses(self, op: Call) -> bool:
        """Tell whether an op is not to be run."""
        return runs_users_code(op)


def replay_stage(
    tape: Tape,
    inputs: Sequence[Any],
    known: Mapping[Var, Any] | None = None,
    bounds: Bounds | None = None,
) -> tuple[dict[Var, Any], dict[Var, str]]:
    """Return the values of a stage, and for each op without one the reason."""
    replayed = StageReplay(tape, inputs, bounds)
    replayed.run(known or {})
    return replayed.values, replayed.problems
