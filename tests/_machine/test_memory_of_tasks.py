"""The memory of a task: what its worker was given, with the random numbers that it keeps."""

import pytest

import giantstep as gs
from giantstep._machine import memory, random
from giantstep.lab.work._call import call
from giantstep.lab.work._perform import attempt

SETTING = gs.presets.moniri(n=80, d=40, N=60, alpha=0.1, penalty=0.1)


@pytest.fixture
def kept():
    yield
    random.keep_drawn(0)


def left() -> tuple[int, float, float]:
    """In a task inside a task, as a claim measures: what is kept, and the bytes that may be used."""
    random.keep_drawn(2**40)
    within = attempt(call(_budget, ()))
    return random.kept_bytes(), within.value, memory.budget(1.0)


def _budget() -> float:
    return memory.budget(None)


def test_random_numbers_that_are_kept_count_in_the_memory_of_a_worker(kept):
    held, inside, asked = attempt(call(left, ()), 0.5).value
    assert held == memory.GIB / 32 and inside == memory.GIB / 2 - held and asked == memory.GIB - held
    random.keep_drawn(0)
    assert memory.budget(0.5) == memory.GIB / 2


@pytest.mark.parametrize("verb", [gs.simulate, gs.equivalent])
def test_more_test_samples_than_anybody_can_draw_are_refused(verb):
    with pytest.raises(gs.InputError, match=r"n_test must be at most 1e\+09, which takes hours already, not 1e\+12"):
        verb(SETTING, n_test=10**12)
