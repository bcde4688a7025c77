"""Compare values to the last bit, through containers and objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.structs import flatten


def bits(tree: Any) -> list[tuple[Any, ...]]:
    """Return type, dtype, shape and bytes of every number in a structure."""
    leaves, _ = flatten(
        tree, leaf=lambda x: isinstance(x, np.ndarray | np.generic | float | complex | int)
    )
    return [(type(x), *_content(x)) for x in leaves]


def _content(x: Any) -> tuple[Any, ...]:
    array = np.asarray(x)
    return (array.dtype, array.shape, array.tobytes())


def by_number(values: dict[Any, Any]) -> dict[int, Any]:
    """Return the bits of a tape's values by number."""
    return {var.id: bits([value]) for var, value in values.items()}
