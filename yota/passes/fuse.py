"""Compute in quicker forms, within the accuracy that each form states."""

from __future__ import annotations

from yota.decisions import deciding
from yota.passes.forms import FORMS
from yota.passes.work import Work
from yota.tape import Tape


def fuse(tape: Tape, exact: bool = False) -> Tape:
    """Apply the forms, with `exact` those alone that keep every bit.

    What a guard, a comparison or a shape depends on keeps its bits in any case.
    """
    work, changes = Work(tape, deciding(tape)), -1
    while work.changes != changes:
        # one brings to light what another can leave out
        changes = work.changes
        for form in FORMS:
            if form.exact and not form.moves:
                form.run(work)
    for form in FORMS:
        if form.moves or not (form.exact or exact):
            form.run(work)
    return work.done("fuse")
