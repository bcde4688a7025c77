from __future__ import annotations

import collections
import dataclasses
import functools

import numpy as np
import pytest

import yota
from yota.structs import flatten, paths, unflatten

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: object
    b: object
    name: str = "layer"


class Slotted:
    __slots__ = ("__hidden", "w")

    def __init__(self, w, hidden):
        self.w, self.__hidden = w, hidden

    @property
    def hidden(self):
        return self.__hidden


class Plain:
    def __init__(self, w):
        self.w = w

    @functools.cached_property
    def total(self):
        return np.sum(self.w)


def rebuilt(tree):
    leaves, structure = flatten(tree)
    return leaves, unflatten(structure, leaves)


def test_every_kind_of_container_comes_back():
    x = np.ones(2)
    tree = {"t": (1.0, [x, "s"]), "n": Pair(2.0, None), "f": Frozen(x, 3.0), "i": 4}
    leaves, back = rebuilt(tree)
    assert back == tree
    assert [np.shape(v) for v in leaves] == [(), (2,), (), ()]


def test_slots_with_mangled_names_come_back():
    _, back = rebuilt(Slotted(1.0, 2.0))
    assert (back.w, back.hidden) == (1.0, 2.0)


def test_a_shared_array_is_one_leaf_and_a_shared_number_two():
    x = np.ones(2)
    assert len(flatten([x, x])[0]) == 1
    assert len(flatten([0.5, 0.5])[0]) == 2


def test_cycles_are_rebuilt_as_cycles():
    tree = {"w": np.ones(1)}
    tree["self"] = tree
    _, back = rebuilt(tree)
    assert back["self"] is back


def test_cached_properties_are_dropped():
    model = Plain(np.ones(2))
    assert model.total == 2.0
    _, back = rebuilt(model)
    assert "total" not in vars(back)


def test_what_has_no_leaf_is_passed_as_it_is():
    log = []
    _, g = yota.grad(lambda x, out: (out.append(1), x * x)[1], 3.0, log)
    assert log == [1]
    assert g[1] == [None]


def test_paths_name_leaves_as_python_would():
    _, structure = flatten({"w": [1.0, Frozen(2.0, 3.0)], "p": Pair(4.0, 5.0)})
    assert [p for _, p in paths(structure, "x")] == [
        "x['w'][0]",
        "x['w'][1].w",
        "x['w'][1].b",
        "x['p'].a",
        "x['p'].b",
    ]


def test_a_deep_chain_of_lists_has_its_leaf_found():
    tree = [1.0]
    for _ in range(50):
        tree = [tree, "x"]
    assert flatten(tree)[0] == [1.0]


def test_update_writes_arrays_in_place_once_and_skips_none():
    x = np.array([1.0, 2.0])
    params = {"a": x, "again": x, "n": 3, "b": 0.5}
    out = yota.update(params, {"a": np.ones(2), "again": np.ones(2), "n": None, "b": 0.25})
    assert out is params
    assert x.tolist() == [0.0, 1.0]
    assert (params["b"], params["n"]) == (0.25, 3)


def test_update_rebuilds_frozen_objects_and_leaves_them_alone():
    old = Frozen(np.array([1.0]), 2.0)
    new = yota.update(old, Frozen(np.array([1.0]), 0.5, None))
    assert (old.b, new.b, new.name) == (2.0, 1.5, "layer")
    assert new.w is old.w
    assert old.w.tolist() == [0.0]


def test_update_follows_the_gradient_of_grad():
    model = Plain(np.array([3.0, 4.0]))
    _, g = yota.grad(lambda m: np.sum(m.w**2), model)
    yota.update(model, g[0], lambda p, dp: p - 0.5 * dp)
    assert model.w.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "wrap", [list, tuple, lambda v: {"k": v[0], "l": v[1]}, lambda v: Pair(*v)]
)
def test_gradients_have_the_structure_of_the_argument(wrap):
    tree = wrap([np.array([1.0, 2.0]), 3.0])
    _, g = yota.grad(
        lambda t: sum(np.sum(v * v) for v in (t.values() if isinstance(t, dict) else t)), tree
    )
    leaves, structure = flatten(g[0])
    assert structure == flatten(tree)[1]
    assert leaves[0].tolist() == [2.0, 4.0]
    assert leaves[1] == 6.0


class Scaled(dict):
    scale = 1.0


class Tagged(list):
    pass


def test_containers_with_attributes_keep_both():
    params = Scaled(a=np.ones(2))
    params.scale = 3.0
    value, g = yota.grad(lambda p: p.scale * np.sum(p["a"]), params)
    assert value == 6.0
    assert (g[0].scale, g[0]["a"].tolist()) == (2.0, [3.0, 3.0])
    row = Tagged([np.ones(2)])
    row.weight = 2.0
    tape = yota.gradtape(lambda r: np.sum(r[0]) * r.weight, row)
    for run in (tape.play, tape.compile()):
        assert run(row)[1][0].weight == 2.0
    default = collections.defaultdict(lambda: 7.0, a=np.ones(2))
    assert yota.grad(lambda p: np.sum(p["a"]) * p["missing"], default)[0] == 14.0
    yota.update(params, Scaled(a=np.ones(2)), lambda x, dx: x - dx)
    assert params["a"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("change", ["item", "attribute"])
def test_a_fixed_value_that_was_changed_in_place_is_noticed(change):
    numbers, options = [1, 2], Plain(3)
    f = lambda x, n, o: x * n[0] * o.w
    tape = yota.gradtape(f, 2.0, numbers, options)
    runs = [tape.play, tape.compile(), yota.simplegrad(f, 2.0, numbers, options)]
    assert [run(2.0, numbers, options)[0] for run in runs] == [6.0] * 3
    if change == "item":
        numbers[0] = 50
    else:
        options.w = 50
    for run in runs:
        with pytest.raises((yota.GuardError, ValueError), match="fixed value"):
            run(2.0, numbers, options)
