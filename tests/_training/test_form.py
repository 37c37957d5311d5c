"""How much of a whole run is done side by side."""

from typing import Any

import pytest
from experiments import base

import giantstep as gs
from giantstep._machine import memory
from giantstep._training import form as forms


def sized(n: int, d: int, p: int, eta: Any = 1.0, penalty: Any = 0.1) -> gs.Setting:
    protocol = gs.Protocol((gs.GiantStep(n, eta),), gs.Ridge(n, penalty))
    return gs.Setting(gs.Gaussian(d), "x1", gs.Network(p, "relu"), protocol)


@pytest.fixture
def formed(monkeypatch):
    """Forms on a device of 112 GB."""
    monkeypatch.setattr(memory, "available", lambda: 1.4e11)
    return lambda setting, seeds=1, n_test=1000: forms.formed(setting, seeds, n_test, "float64", None, 1e9)


def test_a_large_run_goes_by_equal_chunks_and_one_factorisation_at_a_time(formed):
    form, plan = formed(sized(16384, 16384, 16384, penalty=(0.1, 1.0)), seeds=4, n_test=16384)
    assert form.rows == 4096 and (form.seeds, form.members, form.penalties) == (1, 1, 1) and not form.blocked
    assert plan.bytes < 1.12e11 and plan.seeds == 4


def test_a_grid_of_small_runs_is_done_at_once(formed):
    form, plan = formed(sized(1000, 500, 750, eta=range(10), penalty=(0.1, 1, 2, 3, 4)), seeds=8)
    assert (form.rows, form.seeds, form.grams, form.members, form.penalties) == (1000, 8, 10, 10, 5) and form.blocked
    assert plan.seeds == 8


@pytest.mark.parametrize(("sizes", "most"), [([16384] * 3, 5000), ([1000, 10_007], 3000), ([10**9, 10**4], 10**5)])
def test_chunks_are_not_too_small(sizes, most):
    rows = forms._chunk_rows(sizes, most)
    assert most / 4 <= rows <= most


def test_seeds_side_by_side_divide_those_of_a_call(formed):
    form, plan = formed(sized(400, 200, 300), seeds=1250)
    assert plan.seeds % form.seeds == 0 and form.seeds > 100


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1e8)
    with pytest.raises(gs.InputError, match="a smaller width or batch would fit"):
        forms.formed(sized(4000, 2000, 3000), 1, 1000, "float64", None, 1e9)


def test_settings_of_one_shape_share_a_program():
    one, other = (forms.bare(base(eta=eta, penalty=penalty)) for eta, penalty in ((1.0, 0.1), ((2.0, 3.0), (0.5, 0.7))))
    assert one == other and hash(one) == hash(other)
    assert forms.covers(base(), False) and not forms.covers(base(), True)
    assert not forms.covers(base(penalty="gcv"), False) and not forms.covers(base(penalty=(0.1, 0.0)), False)


def test_the_rows_of_a_small_run_are_not_most_of_its_memory(formed):
    form, _ = formed(sized(4000, 2000, 3000), n_test=4000)
    assert form.rows == 2000  # layers and Gram matrices are 0.4 GB, and all rows with what is made of them 0.5 GB
    form, _ = formed(sized(4000, 20, 300), n_test=4000)
    assert form.rows == 4000  # 40 MB: cutting them would save nothing
