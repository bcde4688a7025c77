"""The form that brings elementwise calls on big arrays together: they are computed by rows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice

from yota.blocks import FEWEST, block_shape
from yota.passes.purity import is_pure
from yota.passes.work import Work
from yota.tape import Call, Var

# So many calls may have to wait for a block, and so many are looked at for one.
_BEHIND, _SEEN = 12, 400
_TURNS = 8


def compute_in_blocks(work: Work) -> None:
    """Let calls of one shape run one after the other, and what lies between before or behind."""
    live = work.live(list(work.order()))
    shapes = {v: s for v in work.ops if v in live and (s := block_shape(work.ops[v], work.ops))}
    if len(shapes) < FEWEST:
        return
    places: dict[Var, str] = {}
    for _ in range(_TURNS):
        # what was moved away from one block may have stood in the way of another
        moved = _arrange(work, shapes, live)
        places |= moved
        if not moved:
            break
    for var, place in places.items():
        if var in live and isinstance(work.ops[var], Call):
            work.remark(var, f"blocks: runs {place}, which are computed some rows at a time")


def _arrange(work: Work, shapes: dict[Var, tuple[int, ...]], live: set[Var]) -> dict[Var, str]:
    """Bring calls together; return what was moved, and to where."""
    arranged: list[Var] = []
    waiting, moved = deque(work.order()), dict[Var, str]()
    while waiting:
        gathered = _gather(work, waiting, shapes, live) if waiting[0] in shapes else None
        if gathered is None or (gathered.is_apart and len(gathered.members) < FEWEST):
            arranged.append(waiting.popleft())
            continue
        taken = [waiting.popleft() for _ in range(gathered.length)]
        if not gathered.is_apart:
            arranged += taken
            continue
        arranged += [*gathered.ahead, *gathered.members]
        waiting.extendleft(reversed(gathered.behind))
        moved |= gathered.places()
    work.arrange(arranged)
    return moved


@dataclass
class _Gathered:
    """Calls of one shape, and what stands between the first of them and the last."""

    ahead: list[Var] = field(default_factory=list)
    members: list[Var] = field(default_factory=list)
    behind: list[Var] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many ops there are from the first call to the last."""
        return len(self.ahead) + len(self.members) + len(self.behind)

    @property
    def is_apart(self) -> bool:
        """Tell whether anything stands between the calls."""
        return bool(self.ahead or self.behind)

    def up_to_last(self, order: dict[Var, int]) -> _Gathered:
        """Return the same without what stands behind the last call."""
        last = order[self.members[-1]]
        ahead, behind = ([v for v in x if order[v] < last] for x in (self.ahead, self.behind))
        return _Gathered(ahead, self.members, behind)

    def places(self) -> dict[Var, str]:
        """Say of what stood between the calls where it runs now."""
        span = f"{self.members[0]} to {self.members[-1]}"
        ahead = dict.fromkeys(self.ahead, f"ahead of {span}")
        return ahead | dict.fromkeys(self.behind, f"behind {span}")


def _gather(
    work: Work, waiting: deque[Var], shapes: dict[Var, tuple[int, ...]], live: set[Var]
) -> _Gathered:
    """Return the calls that can run together with the first that waits."""
    found, shape, order = _Gathered(), shapes[waiting[0]], {}
    members, behind = set[Var](), set[Var]()
    guarded = {g.var for g in work.tape.guards}
    late = 0
    for k, var in enumerate(islice(waiting, _SEEN)):
        op = work.ops[var]
        order[var] = k
        reads = op.operands if isinstance(op, Call) else []
        if var in guarded or (isinstance(op, Call) and not is_pure(op.fn)):
            break
        if shapes.get(var) == shape and behind.isdisjoint(reads):
            found.members.append(var)
            members.add(var)
        elif var in live and members.isdisjoint(reads) and behind.isdisjoint(reads):
            found.ahead.append(var)
        else:
            # also what is dead: what it was merged into has to run before
            found.behind.append(var)
            behind.add(var)
            late += var in live
            if late > _BEHIND:
                break
    return found.up_to_last(order) if found.members else _Gathered([], [waiting[0]], [])
