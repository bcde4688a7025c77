"""What is folded in the views, which outlives the process where the structure is the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from yota.tape import Tape
from yotaview.model.forms import CodecError, Json
from yotaview.model.outline import WAYS, By, Key, Kind

MOST = 5_000


@dataclass
class Folding:
    """Statements folded in the list of ops; how the graph makes boxes, and which are unfolded."""

    statements: bool = False
    by: By = "line"
    boxes: dict[str, frozenset[Key]] = field(default_factory=dict)

    def told(self, tape: Tape) -> Json:
        """Return it as JSON, with the structure that the boxes belong to."""
        boxes = {way: sorted(keys)[:MOST] for way, keys in self.boxes.items()}
        structure = tape.fingerprint() if boxes else ""
        return {
            "statements": self.statements, "by": self.by, "boxes": boxes, "structure": structure,
        }  # fmt: skip


def read_folding(j: Json, tape: Tape) -> Folding:
    """Return what was folded, the boxes where the tape is as it was; raises CodecError."""
    if not isinstance(j, dict) or type(j.get("statements")) is not bool or j.get("by") not in WAYS:
        raise CodecError("not what is folded")
    boxes = j.get("boxes")
    if not isinstance(boxes, dict) or not set(boxes) <= set(WAYS):
        raise CodecError("not what is unfolded")
    found = {way: _keys(keys) for way, keys in boxes.items()}
    same = bool(found) and j.get("structure") == tape.fingerprint()
    return Folding(j["statements"], j["by"], found if same else {})


def _keys(listed: Any) -> frozenset[Key]:
    if not isinstance(listed, list) or len(listed) > MOST:
        raise CodecError(f"not a list of up to {MOST} boxes")
    return frozenset(map(_key, listed))


def _key(j: Any) -> Key:
    match j:
        case [str(kind), int(start), int(end)] if kind in get_args(Kind):
            return kind, start, end
    raise CodecError("not a box")
