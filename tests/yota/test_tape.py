from __future__ import annotations

import numpy as np
import pytest

import yota
from tests.zoo import SMOOTH
from yota.tape import Call, Input, Tape, Var, spec_of


def foo(x):
    return np.exp(x)


def test_introductory_tape_is_the_documented_one(golden):
    value, g = yota.grad(foo, 0.5)
    assert repr(value) == "np.float64(1.6487212707001282)"
    assert type(g[0]) is float
    assert g[0] == 1.6487212707001282
    golden("intro_tape.txt", str(g.tape))


def test_pretty_tells_names_lines_and_derivatives():
    _, g = yota.grad(foo, 0.5)
    notes = [line[38:] for line in g.tape.pretty(origins=True).splitlines()[1:]]
    assert notes[0] == "# x"
    assert notes[1].startswith("# test_tape.py:")
    assert notes[2:] == ["# seed", "# d%2/d%1", "# d%2/d%1"]


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_play_repeats_the_recorded_values(name, f, args):
    tape = yota.gradtape(f, *args)
    recorded = dict(tape.values)
    value, gradients = tape.play(*args)
    assert np.array_equal(value, yota.grad(f, *args)[0])
    assert len(gradients) == len(args)
    for var, old in recorded.items():
        assert spec_of(old) == tape[var].spec, var
        if tape[var].spec.kind != "tuple":
            assert np.array_equal(old, tape.values[var], equal_nan=True), var


def test_play_of_a_traced_function_returns_its_value():
    value, tape = yota.trace(lambda x: {"twice": x * 2.0, "n": 3}, 1.5)
    assert value == {"twice": 3.0, "n": 3}
    assert tape.play(4.0) == {"twice": 8.0, "n": 3}


def test_play_refuses_another_branch_and_names_the_line():
    def relu(x):
        return x * 2.0 if x > 0 else x

    tape = yota.gradtape(relu, 1.0)
    assert tape.play(3.0) == (6.0, (2.0,))
    with pytest.raises(yota.GuardError, match=r"test_tape\.py:\d+"):
        tape.play(-1.0)


@pytest.mark.parametrize(
    "args", [(np.ones(3),), (np.ones(2, "f4"),), (1.0,), (np.ones(2), 3), ([],)]
)
def test_play_refuses_arguments_of_another_type(args):
    tape = yota.gradtape(lambda x: np.sum(x * x), np.ones(2))
    with pytest.raises(yota.GuardError):
        tape.play(*args)


def test_play_refuses_another_data_dependent_shape():
    tape = yota.gradtape(lambda x: np.sum(x[x > 0]), np.array([1.0, -1.0]))
    with pytest.raises(yota.GuardError, match="shape"):
        tape.play(np.array([1.0, 1.0]))


def test_seed_array_is_an_input():
    tape = yota.gradtape(lambda x: x * x, np.array([1.0, 2.0]), seed=np.array([1.0, 0.0]))
    assert isinstance(tape[tape.seed], Input)
    _, (gx,) = tape.play(np.array([1.0, 2.0]), seed=np.array([0.0, 10.0]))
    assert gx.tolist() == [0.0, 40.0]
    with pytest.raises(yota.GuardError, match="seed="):
        tape.play(np.array([1.0, 2.0]))


def test_a_plain_gradient_keeps_no_values_and_says_so():
    _, g = yota.grad(foo, 0.5)
    with pytest.raises(yota.YotaError, match="gradtape"):
        g.tape.value(2)


def test_where_answers_only_for_numbers_that_were_given():
    tape = yota.gradtape(foo, 0.5)
    assert tape.where(5).kind == "itself"
    with pytest.raises(KeyError):
        tape.where(6)


def test_verify_finds_an_operand_that_is_not_defined():
    tape = Tape()
    tape.push(Call(spec=spec_of(1.0), fn=np.exp, args=(Var(7),)))
    with pytest.raises(yota.TapeError, match="%7"):
        tape.verify()


def test_a_number_is_never_given_twice():
    tape = Tape()
    var = tape.push(Input(spec=spec_of(1.0), name="x"))
    with pytest.raises(yota.TapeError):
        tape.push(Input(spec=spec_of(1.0), name="y"), var)


def test_cotangents_name_the_op_that_completes_each_value():
    tape = yota.gradtape(lambda x: x * x + x, 3.0)
    (gx,) = tape.gradient_vars
    assert tape.cotangents[tape.inputs[0]] == gx
    assert tape.value(gx) == 7.0


def test_inputs_and_constants_carry_the_users_names():
    data = np.arange(3.0)
    _, g = yota.grad(
        lambda p: np.sum(p["w"] * data) + p["rest"][1], {"w": np.ones(3), "rest": (1, 2.0)}
    )
    names = [getattr(op, "name", "") for _, op in g.tape]
    assert names[:3] == ["p['w']", "p['rest'][1]", "data"]


def test_fingerprint_ignores_values_but_not_structure():
    def f(x):
        return np.sum(np.exp(x))

    prints = {yota.gradtape(f, a).fingerprint() for a in (np.ones(2), np.zeros(2))}
    assert len(prints) == 1
    assert yota.gradtape(f, np.ones(3)).fingerprint() not in prints


@pytest.mark.parametrize(
    ("value", "text", "short"),
    [
        (1.0, "float64", "f64"),
        (np.float32(1), "float32", "f32"),
        (np.zeros((3, 4)), "float64[3,4]", "f64[3,4]"),
        (np.zeros(()), "float64[]", "f64[]"),
        (np.zeros(2, bool), "bool[2]", "bool[2]"),
        ((1.0, np.zeros(2, complex)), "(float64, complex128[2])", "(f64, c128[2])"),
    ],
)
def test_specs_print_dtype_and_shape(value, text, short):
    assert spec_of(value).text() == text
    assert spec_of(value).text(short=True) == short


def test_integer_that_python_would_not_write_out_is_printed_and_read_back():
    long = 10**5000

    def f(x):
        return x if x < long else 2 * x

    _, g = yota.grad(f, 2.0)
    assert hex(long) in g.tape.pretty()
    assert hex(long) in yota.generate_source(g.tape)
    assert yota.simplegrad(f, 2.0)(3.0) == (3.0, 1.0)
