"""The what-ifs of every call of a run: those of a call not open are edits, run when looked at."""

from __future__ import annotations

from yotaview.model.opened import Opened
from yotaview.model.whatif import Branch, Forks, Planned

Key = tuple[int, int]


class Branches:
    """What-ifs by the indices of row and call."""

    def __init__(self) -> None:
        self._forks: dict[Key, Forks] = {}
        self._planned: dict[Key, list[Branch | Planned]] = {}

    def of(self, key: Key, opened: Opened) -> Forks:
        """Return the branches of the call that is open; opened anew it is as recorded."""
        base = opened.recorded
        found = self._forks.get(key)
        if found is None:
            planned = self._planned.pop(key, [])
            found = Forks(base, list(planned), 0, max((p.number for p in planned), default=0))
        elif found.base is not base:
            found = found.on(base)
        self._forks[key] = found
        return found

    def plan(self, key: Key, planned: Planned) -> bool:
        """Add a what-if that is not run yet; tell whether its number was free."""
        forks = self._forks.get(key)
        there = self._planned.setdefault(key, []) if forks is None else forks.branches
        free = all(p.number != planned.number for p in there)
        if free:
            there.append(planned)
        if forks is not None:
            forks.given = max(forks.given, planned.number)
        return free

    def all(self) -> list[tuple[Key, Branch | Planned]]:
        """Return every what-if with the indices of its row and call, in their order."""
        found: list[tuple[Key, Branch | Planned]] = [
            (key, b) for key, forks in self._forks.items() for b in forks.branches
        ]
        found += [(key, p) for key, planned in self._planned.items() for p in planned]
        return sorted(found, key=lambda pair: (pair[0], pair[1].number))

    def drop(self, key: Key, number: int) -> None:
        """Discard a what-if; raises EditError where there is none."""
        if key in self._forks:
            self._forks[key].drop(number)
        else:
            self._planned[key] = [p for p in self._planned[key] if p.number != number]
