from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.yotaview.screen_text import captured, mlp_session
from tests.yotaview.scripts import opened
from tests.yotaview.tapes import FUNCTIONS, made
from yota import codegen
from yota.tape import Call, Constant, Var
from yotaview.checks import check_buffers
from yotaview.checks.buffers import hazards_of
from yotaview.checks.hazards import plan_hazards
from yotaview.checks.running import Run
from yotaview.model.session import Session


def run_of(name, source=None, exact=False):
    program, code, inputs, values = made(name, exact)
    run = Run(code, source or program.source(), values, program.plan())
    run.run(inputs)
    return run


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("exact", [False, True], ids=["forms", "exact"])
def test_sound_plans_and_code_have_no_finding(name, exact):
    for form in ("lean", "bound"):
        program, code, _, values = made(name, exact, form)
        assert plan_hazards(code, program.plan(form), values) == []
    assert run_of(name, exact=exact).found == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_occupants_are_what_a_run_of_the_code_writes(name):
    program, code, *_ = made(name)
    plan, run = program.plan(), run_of(name)
    written = {}
    for var, value in run.seen.items():
        if var in plan.slot and var not in plan.joins and isinstance(code[var], Call):
            place = value.__array_interface__["data"][0], value.nbytes
            written.setdefault(place, []).append(var)
    ran = {v for vars_ in written.values() for v in vars_}
    planned = [[v for v, _ in plan.occupants(k) if v in ran] for k in range(len(plan.buffers))]
    assert sorted(written.values()) == sorted(filter(None, planned))
    now = {}
    for var in run.seen:
        if var in ran:
            now[plan.slot[var]] = var
            held = {k: v for k, v in plan.holds(var).items() if v in ran}
            assert held == now


def crowded(name) -> Iterator[tuple[str, Var, Var, Var]]:
    """Yield a tape with an op, a value that is still read behind it, and the first reader."""
    program, code, *_ = made(name)
    plan, order = program.plan(), {v: k for k, v in enumerate(made(name).code.ops)}
    users = code.users()
    for writer in plan.slot:
        for kept in plan.slot:
            late = [u for u in users[kept] if order[u] > order[writer] and u not in plan.joins]
            alike = plan.buffers[plan.slot[kept]] == replace(
                plan.buffers[plan.slot[writer]], name=plan.buffers[plan.slot[kept]].name
            )
            if order[kept] < order[writer] and late and alike:
                yield name, writer, kept, late[0]


CROWDED = [
    next((c for k, c in enumerate(crowded(name)) if k == at), None)
    for name in ("mlp", "gaussian_process", "recurrent", "form signs", "form dots", "form products")
    for at in (0, 1, 3, 6, 9)
]
CROWDED = list(dict.fromkeys(c for c in CROWDED if c))


def test_there_are_enough_corrupted_plans():
    assert len(CROWDED) >= 15


@pytest.mark.parametrize(("name", "writer", "kept", "reader"), CROWDED, ids=str)
def test_value_that_is_overwritten_before_it_is_read_is_found(name, writer, kept, reader):
    program, code, inputs, values = made(name)
    plan = program.plan()
    broken = replace(plan, slot=plan.slot | {writer: plan.slot[kept]})
    found = plan_hazards(code, broken, values)
    pairs = {(h.var, h.writer) for h in found if h.kind in ("overwritten", "in place")}
    assert (reader, writer) in pairs or (writer, kept) in pairs
    source = codegen.generate(code, "lean", plan=broken, target=program.tape)
    run = Run(code, source, values, broken)
    run.run(inputs)
    assert run.found


def test_plan_that_gives_an_argument_or_constant_away_is_found():
    program, code, _, values = made("mlp")
    plan = program.plan()
    for kind in (code.inputs, [v for v, op in code if isinstance(op, Constant)]):
        broken = replace(plan, slot=plan.slot | {kind[0]: 0})
        found = plan_hazards(code, broken, values)
        assert ("no result", kind[0]) in {(h.kind, h.var) for h in found}


def test_result_in_a_buffer_is_found():
    program, code, _, values = made("mlp")
    plan = program.plan()
    out = next(v for v in code.gradient_vars if code[v].spec.shape == (3, 4))
    k = next(k for k, b in enumerate(plan.buffers) if b.shape == (8, 4))
    buffers = (*plan.buffers, replace(plan.buffers[k], name="B99", shape=(3, 4), nbytes=96))
    broken = replace(plan, buffers=buffers, slot=plan.slot | {out: len(plan.buffers)})
    assert ("escapes", out) in {(h.kind, h.var) for h in plan_hazards(code, broken, values)}


def test_buffer_of_another_size_is_found():
    program, code, _, values = made("mlp")
    plan = program.plan()
    var = next(v for v in plan.slot if code[v].spec.shape == (8, 4))
    k = next(k for k, b in enumerate(plan.buffers) if b.shape == (8, 1))
    found = plan_hazards(code, replace(plan, slot=plan.slot | {var: k}), values)
    assert ("does not fit", var) in {(h.kind, h.var) for h in found}


@pytest.mark.parametrize("name", ["mlp", "gaussian_process", "products"])
def test_memory_that_is_released_early_is_found(name):
    program, code, _, values = made(name)
    plan = program.plan()
    var = next(v for v in plan.slot if code.users()[v])
    reader = code.users()[var][-1]
    broken = replace(plan, last_use=plan.last_use | {var: var})
    found = plan_hazards(code, broken, values)
    assert ("released early", reader, var) in {(h.kind, h.var, h.writer) for h in found}


def test_product_into_its_own_operand_is_found():
    program, tape, _, values = made("recurrent", form="bound")
    plan = program.plan("bound")
    var, operand = next(
        (v, x) for v, op in tape if isinstance(op, Call) and op.name in ("dot", "matmul")
        for x in op.operands
        if x in plan.slot and v in plan.slot
        and tape[x].spec == tape[v].spec
    )  # fmt: skip
    broken = replace(plan, slot=plan.slot | {var: plan.slot[operand]})
    found = plan_hazards(tape, broken, values)
    assert ("in place", var, operand) in {(h.kind, h.var, h.writer) for h in found}


def test_part_that_is_not_in_its_place_is_found():
    program, code, _, values = made("form stacks")
    plan = program.plan()
    join = next(j for j in plan.joins.values() if j.inside and j.whole == j.var)
    part = next(iter(join.inside & plan.slot.keys()))
    other = next(p for p in join.inside if p != part)
    found = plan_hazards(code, replace(plan, slot=plan.slot | {other: plan.slot[part]}), values)
    assert {h.kind for h in found} >= {"overwritten"}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("tanh(v6, B0)", "tanh(v6, b1[None] * B0)", "another value"),
        ("v6 = add(v5, b1, B0)", "v6 = add(v5, b1, B0); b1[...] = 0", "fixed memory"),
        ("v13 = log(v12, B4)", "v13 = log(v12, c14)", "fixed memory"),
        ("v16 = subtract(k1, v12, B5)", "v16 = subtract(v12, k1, B5)", "another value"),
        ("v17 = log(v16, B6)", "v17 = log(v16, B3)", "overwritten"),
        ("v45 = subtract(k1, v44, B0)", "v45 = subtract(k1, v44, B7)", "overwritten"),
        ("v47 = c53.dot(v46)", "v47 = B7[0]; v47[...] = c53.dot(v46)", "escapes"),
    ],
)
def test_altered_code_is_found(old, new, kind):
    session = Session(
        captured.__wrapped__(), 0
    )  # its own: what is altered writes into the constants
    program = session.program
    code, source = program.tape_of("lean"), program.source()
    assert source.text.count(old) == 1
    values, _ = session.opened.values_on(code)
    altered = replace(source, text=source.text.replace(old, new))
    run = Run(code, altered, values, program.plan())
    run.run(session.call.inputs)
    assert kind in {h.kind for h in run.found}


def test_check_is_silent_where_all_is_well_and_says_what_it_did_not_run(tmp_path):
    assert all(check_buffers(mlp_session(k)) == [] for k in range(len(captured().rows)))
    session = opened(
        tmp_path,
        "import numpy as np\nimport yota\n\n"
        "@yota.primitive\ndef double(x):\n    return 2 * x\n\n"
        "yota.defvjp(double, lambda dy, y, x: 2 * dy)\n"
        "yota.grad(lambda x: np.sum(double(x)), np.ones(3))\n",
    )
    found, why = hazards_of(session)
    assert found == []
    assert "your own function" in why
    (note,) = check_buffers(session)
    assert note.level == "note"
    assert "not run" in note.text


def test_floats_that_go_astray_are_answered_by_numpy(tmp_path):
    session = opened(tmp_path, "import yota\nyota.grad(lambda x: x * x * 1e300, 1e200)\n")
    assert np.isinf(session.recorded(session.tape.outputs[0]))
    assert check_buffers(session) == []
