from __future__ import annotations

import threading

import numpy as np
import pytest

import yota
from yota import program
from yota.passes import PIPELINE
from yota.program import Built, Program, notify, observe, observed

X = np.array([0.5, 1.0, -2.0])


def f(x):
    return np.sum(np.exp(x) * x)


def test_program_keeps_every_stage():
    tape = yota.gradtape(f, X)
    stages = Program(tape).stages
    assert [s.name for s in stages] == ["trace", "reverse", *PIPELINE, "buffers", "code"]
    assert stages[1].tape is tape
    assert all(s.seconds > 0 for s in stages[2:])
    assert not any(tape.is_reverse(v) for v in stages[0].tape.ops)
    assert stages[0].tape.play(X) == f(X)


def test_program_of_a_forward_tape_has_no_reverse_stage():
    _, tape = yota.trace(f, X)
    assert [s.name for s in Program(tape).stages][:2] == ["trace", "cse"]


def test_program_makes_each_part_once():
    made = Program(yota.gradtape(f, X))
    assert made.run() is made.run("lean")
    assert made.source("bound") is made.source("bound")
    assert made.plan() is made.plan("lean")
    assert made.stages[2].tape is made.stages[2].tape


def test_stage_names_the_known_ones_when_asked_for_another():
    made = Program(yota.gradtape(f, X))
    assert made.stage("cse").name == "cse"
    with pytest.raises(KeyError, match="reverse, cse"):
        made.stage("magic")


def test_program_runs_and_writes_back_to_the_recorded_tape():
    tape = yota.gradtape(f, X)
    made = Program(tape)
    value, (g,) = made.run()(X)
    assert value == f(X)
    assert np.array_equal(g, tape.play(X)[1][0])
    tape.values = None
    made.run("bound")(X)
    assert tape.value(2).tolist() == np.exp(X).tolist()


@pytest.mark.parametrize("call", [program.generate_source, program.compile_tape])
def test_unknown_forms_and_passes_are_refused_by_name(call):
    tape = yota.gradtape(f, X)
    with pytest.raises(ValueError, match="bound and lean"):
        call(tape, form="fat")
    with pytest.raises(ValueError, match="cse, fold, algebra, dce"):
        call(tape, ("magic",))


def test_generate_source_takes_names_functions_and_a_single_name():
    tape = yota.gradtape(f, X)
    assert yota.generate_source(tape, "cse") == yota.generate_source(
        tape, (program.optimise and "cse",)
    )
    assert "# body" in yota.generate_source(tape, (lambda t: t,))


def test_observers_hear_events_while_they_observe():
    heard: list = []
    event = Built(Program(yota.gradtape(f, X)))
    assert not observed()
    with observe(heard.append), observe(heard.append):
        assert observed()
        notify(event)
    notify(event)
    assert heard == [event, event]
    assert not observed()


def test_observers_hear_other_threads_and_their_errors_reach_the_caller():
    heard: list = []
    event = Built(Program(yota.gradtape(f, X)))
    with observe(heard.append):
        thread = threading.Thread(target=notify, args=(event,))
        thread.start()
        thread.join()
    assert heard == [event]

    def refuse(event):
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"), observe(refuse):
        yota.grad(f, X)
    assert not observed()
