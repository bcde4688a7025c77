"""What takes long to find out, kept as long as what it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

_kept: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def once(owner: Any, key: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` gave for this key the first time, for as long as `owner` lives."""
    kept = _kept.setdefault(owner, {})
    if key not in kept:
        kept[key] = make()
    return kept[key]


def known(owner: Any, key: Any) -> Any:
    """Return what is kept for this key, None where nothing is."""
    return _kept.get(owner, {}).get(key)
