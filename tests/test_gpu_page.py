"""The table of docs/gpu.md is made from lines of several runs, and names the goals that were missed."""

from typing import Any

from benchmarks.gpu.page import merged, table

SMALL: dict[str, Any] = {
    "row": "small", "d": 20, "n": 40, "p": 30, "dtype": "float64", "seeds": 1, "etas": 1, "penalties": 1, "precision": "full",
    "seconds": 0.1, "script": 0.2, "ratio": 0.5, "goal": 2.0, "share of the product rate": 0.4,
    "peak / needed": 1.2, "compile": 3.0,
}  # fmt: skip
TRIALS = {
    "row": "trials", "trials": 100, "seconds": 1.0, "host seconds": 12.0, "host cores": 4, "host / device": 12.0, "goal": 20.0,
    "compile": 11.0,
}  # fmt: skip


def test_a_row_that_ran_at_last_takes_the_place_of_one_that_did_not():
    over = {"row": "trials", "errors": "the time was over"}
    assert merged([{"device": "a"}, over, SMALL, TRIALS]) == [{"device": "a"}, TRIALS, SMALL]
    assert merged([TRIALS, over]) == [TRIALS]


def test_the_sentence_names_every_missed_goal_and_no_other():
    text = table([{"device": "NVIDIA H200 gpu 0.11.2"}, SMALL, TRIALS])
    assert "one NVIDIA H200 (gpu) with JAX 0.11.2" in text
    missed = text.splitlines()[-1]
    assert "12 times faster than 4 cores (goal 20)" in missed and "`trials` 11.0 s" in missed
    assert "small" not in missed
    worse = {**SMALL, "ratio": 2.5, "peak / needed": 1.4}
    missed = table([worse]).splitlines()[-1]
    assert "ratio of `small` is 2.50" in missed and "memory of `small` is 1.40" in missed
    assert table([SMALL]).splitlines()[-1] == "No goal is missed."


def test_the_other_routes_have_a_table_of_their_own():
    sgd = {"seconds": 0.5, "compile": 2.0, "host seconds": 3.0}
    measured = {
        "row": "routes",
        "host cores": 4,
        "routes": {"SGD readout": sgd, "estimator": {**sgd, "host seconds": None}},
    }
    lines = table([SMALL, measured]).splitlines()
    assert "| SGD readout | 0.5 s | 3 s | 2.0 s |" in lines and "| estimator | 0.5 s |  | 2.0 s |" in lines
    assert "| other routes | device | 4 cores | first compilation |" in lines
