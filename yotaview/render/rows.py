"""Lines that are drawn when they are asked for: a long list costs what is in sight of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from yotaview.render.line import Line

if TYPE_CHECKING:
    from yotaview.model.session import Session


class Lazy(Sequence[Line]):
    """Lines that are drawn one by one."""

    def row(self, index: int) -> Line:
        """Draw one line."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.row(k) for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self.row(index % len(self))


class Joined(Lazy):
    """A few lines above many that are drawn when they are asked for."""

    def __init__(self, head: Sequence[Line], rest: Sequence[Line]) -> None:
        self.head, self.rest = head, rest

    def __len__(self) -> int:
        return len(self.head) + len(self.rest)

    def row(self, index: int) -> Line:
        """Draw a line of either part."""
        own = len(self.head)
        return self.head[index] if index < own else self.rest[index - own]


class Rows(Lazy):
    """Lines about a session as it stood when the page was made: it may be painted later."""

    def __init__(self, session: Session) -> None:
        self.session = session.still()
