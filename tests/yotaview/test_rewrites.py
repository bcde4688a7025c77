"""Rewrites are verified: sound passes have no ✗, planted faults are found where they are."""

from dataclasses import replace

import numpy as np
import pytest

import yota
from tests.yotaview.screen_text import captured, mlp_session
from tests.yotaview.tapes import FUNCTIONS, made
from yota.passes import PASSES, PIPELINE, Stage, optimise
from yota.passes.rewrite import Rewrite
from yota.tape import Call, Constant, Tape, Var
from yotaview.checks import check_passes
from yotaview.checks.passes import verified
from yotaview.checks.rewrites import Replays, verify
from yotaview.model.stages import replay_stage

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


def sample(x, y):
    a = np.exp(x) * y
    b = x.copy()
    b[0] = y[0]
    c = b[1:] - a[:2]
    return np.sum(np.tanh(c) * c) + np.sum(np.where(x > 0.5, x, y)) / 3.0 + np.sum(b)


def checked(tape, inputs, stages, trials=20):
    values, problems = replay_stage(tape, inputs)
    return verify(stages, Replays(tape, inputs, values, problems), trials=trials)


def all_wrong(checks):
    found = {}
    for check in checks:
        for var, text in check.faults:
            found[var] = text
        for var, verdict in check.silent.items():
            if verdict.wrong:
                found[var] = verdict.wrong
        for rewrite, verdict in zip(check.stage.rewrites, check.verdicts, strict=True):
            if verdict.wrong:
                found[rewrite.var] = verdict.wrong
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("exact", [False, True], ids=["forms", "exact"])
def test_sound_passes_have_no_fault(name, exact):
    m = made(name, exact)
    checks = checked(m.program.tape, m.inputs, m.program.stages)
    assert [c.stage.name for c in checks] == list(PIPELINE)
    assert all_wrong(checks) == {}
    for check in checks:
        assert len(check.verdicts) == len(check.stage.rewrites)
        for rewrite, verdict in zip(check.stage.rewrites, check.verdicts, strict=True):
            assert verdict.compared, (rewrite, verdict.text)
            assert verdict.ulp <= verdict.bound
            assert check.stage.name == "fuse" or not verdict.ulp


TAPE = yota.gradtape(sample, X, X[::-1].copy())


def calls(tape, *names):
    return [v for v, op in tape if isinstance(op, Call) and op.name in names]


def rewriting(act):
    """Return a pass that does one thing wrong and keeps all else."""

    def run(tape):
        new = Rewrite(tape, "cse")
        act(tape, new)
        return new.done()

    return run


def merging(*pair, why="same function and operands"):
    def act(tape, new):
        one, other = (v(tape) if callable(v) else v for v in pair)
        for var, _ in tape:
            if var == other:
                new.put(var, one, why)
            else:
                new.keep(var)

    return rewriting(act)


def changing(find, alter, record=True):
    def act(tape, new):
        target = find(tape)
        for var, op in tape:
            if var == target and record:
                new.change(var, alter(tape, op), "cheaper")
            elif var == target:
                new.tape.push(alter(tape, op), var)
            else:
                new.keep(var)

    return rewriting(act)


def dropping(find):
    def act(tape, new):
        target = find(tape)
        for var, _ in tape:
            if var == target:
                new.drop(var, "not needed by any result")
            else:
                new.keep(var)

    return rewriting(act)


def nth(k, *names):
    return lambda tape: calls(tape, *names)[k]


def swapped(tape, op):
    return replace(op, args=op.args[::-1])


def other(fn):
    return lambda tape, op: replace(op, fn=fn)


def constant(value):
    return lambda tape, op: Constant(spec=op.spec, origin=op.origin, value=value)


def without_guard(tape):
    new = PASSES["cse"](tape)
    new.guards = new.guards[1:]
    return new


def handing_out_another(tape):
    new = PASSES["cse"](tape)
    leaf = new.gradients[0].leaves[0]
    wrong = next(v for v, op in new if op.spec == new[leaf].spec and v != leaf)
    new.gradients = (replace(new.gradients[0], leaves=(wrong,)), *new.gradients[1:])
    return new


def forgetting_a_record(tape):
    new = PASSES["cse"](tape)
    new.rewrites = new.rewrites[:-1]
    return new


FAULTS = {
    "merges ops of other operands": merging(nth(0, "getitem"), nth(1, "getitem")),
    "merges ops of other functions": merging(nth(0, "exp"), nth(0, "multiply")),
    "merges a version of before a write": merging(
        lambda t: calls(t, "copy", "setitem")[0], lambda t: calls(t, "setitem")[-1]
    ),
    "merges an argument with another": merging(lambda t: t.inputs[0], lambda t: calls(t, "exp")[0]),
    "drops a live op": dropping(nth(0, "exp")),
    "drops a live op of the reverse pass": dropping(lambda t: t.gradients[0].leaves[0]),
    "swaps operands": changing(nth(0, "subtract"), swapped),
    "swaps operands without a record": changing(nth(0, "subtract"), swapped, record=False),
    "swaps the operands of a quotient": changing(nth(0, "divide"), swapped),
    "folds to a wrong constant": changing(nth(0, "greater"), constant(X > 0.4)),
    "folds what depends on inputs": changing(nth(0, "exp"), constant(np.exp(X))),
    "takes another function": changing(nth(0, "exp"), other(np.expm1)),
    "takes another function without a record": changing(
        nth(0, "tanh"), other(np.sin), record=False
    ),
    "takes maximum for addition": changing(nth(0, "add"), other(np.maximum)),
    "shifts an index": changing(
        nth(0, "getitem"), lambda t, op: replace(op, args=(op.args[0], slice(0, 2)))
    ),
    "forgets a factor": changing(
        nth(0, "multiply"), lambda t, op: replace(op, fn=np.positive, args=op.args[:1])
    ),
    "forgets an axis": changing(
        lambda t: calls(t, "sum")[0], lambda t, op: replace(op, kwargs=(("axis", 0),))
    ),
    "hands out another gradient": handing_out_another,
    "forgets to record a merge": forgetting_a_record,
    "takes the nearest whole number": changing(nth(0, "tanh"), other(np.rint)),
    "is off in the last place": changing(
        nth(0, "tanh"), lambda t, op: replace(op, fn=np.nextafter, args=(op.args[0], np.inf))
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name):
    tape = TAPE
    inputs = tape.entry.leaves((X, X[::-1].copy()), {})
    new = FAULTS[name](tape)
    stages = [Stage("reverse", tape), Stage("cse", new, new.rewrites)]
    found = all_wrong(checked(tape, inputs, stages))
    assert found
    if "without" not in name and "forgets to" not in name:
        told = {r.var for r in new.rewrites}
        assert told & set(found) or set(found) & set(tape.outputs)


def test_fault_names_the_element_and_the_two_numbers():
    new = FAULTS["folds to a wrong constant"](TAPE)
    stages = [Stage("reverse", TAPE), Stage("cse", new, new.rewrites)]
    inputs = TAPE.entry.leaves((X, X[::-1].copy()), {})
    (text,) = all_wrong(checked(TAPE, inputs, stages)).values()
    assert text.startswith("element [")
    assert "False before, True behind" in text or "True before, False behind" in text


def test_random_draws_may_not_be_merged_dropped_or_folded():
    tape = Tape(TAPE.entry)
    rng = np.random.default_rng(3)
    first = next(iter(TAPE.ops.values()))
    x = tape.push(replace(first))
    spec = replace(first.spec, shape=(2,))
    one = tape.push(Call(spec=spec, fn=rng.normal, args=(0.0, 1.0, 2)))
    two = tape.push(Call(spec=spec, fn=rng.normal, args=(0.0, 1.0, 2)))
    total = tape.push(Call(spec=spec, fn=np.add, args=(one, two)))
    assert total
    for fault in (
        merging(one, two),
        dropping(lambda t: total and two),
        changing(lambda t: one, constant(np.zeros(2))),
    ):
        new = fault(tape)
        stages = [Stage("reverse", tape), Stage("cse", new, new.rewrites)]
        found = all_wrong(checked(tape, [X], stages, trials=2))
        assert any("gives another value each time" in t for t in found.values())
    assert x in tape.inputs


def test_guards_may_not_be_lost():
    tape = yota.gradtape(lambda x: x * 2.0 if x > 0 else x * 3.0, 1.5)
    assert tape.guards
    new = without_guard(tape)
    stages = [Stage("reverse", tape), Stage("cse", new, new.rewrites)]
    assert any("guards before" in t for t in all_wrong(checked(tape, [1.5], stages)).values())


def test_there_are_twenty_faults():
    assert len(FAULTS) >= 20


def test_counts_are_those_of_the_engine():
    for name in FUNCTIONS:
        m = made(name)
        stages = [s for s in m.program.stages if s.name in PASSES]
        again = optimise(m.program.tape)
        assert [len(s.rewrites) for s in stages] == [len(s.tape.rewrites) for s in again]


def test_check_is_silent_on_a_sound_program_and_stops_when_told():
    assert all(check_passes(mlp_session(k)) == [] for k in range(len(captured().rows)))
    asked = []

    def stopped():
        asked.append(1)
        return len(asked) > 2

    checks = verified(mlp_session(), stopped=stopped)
    assert len(asked) == 3
    assert all(v.compared <= 1 for c in checks for v in c.verdicts)
    assert not any(v.compared for v in checks[-1].verdicts if v.unknown == "")
    assert isinstance(next(iter(mlp_session().tape.ops)), Var)
