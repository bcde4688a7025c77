"""Generated source with the ops that its lines stand for."""

from __future__ import annotations

FORMS = ("lean", "bound")


def check_maps(source, tape):
    lines = source.text.splitlines()
    for var, line in source.line_of.items():
        survivor = tape.survivor(var)
        in_loop = " … " in lines[line - 1] and survivor in source.ops_of[line]
        assert f"# {survivor}" in lines[line - 1] or in_loop, (var, lines[line - 1])
        assert var in source.ops_of[line]
    assert set(tape.ops) <= set(source.line_of)
