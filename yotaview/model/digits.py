"""Numbers as one types them: however many digits, none is too long to be read."""

from __future__ import annotations

# beyond every op, line, call and branch, and far below what Python refuses to read
MOST = 10**18


def whole(text: str) -> int:
    """Return the number that digits behind an optional sign stand for, at most MOST."""
    digits = text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) < 19 else MOST
    return -size if text.startswith("-") else size
