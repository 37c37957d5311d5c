"""The soak in its short form: a sweep disturbed a few times beside tables for the estimator; nothing may go wrong."""

import sys

import pytest

from benchmarks.soak import WRONG, soak


@pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and processes of Linux")
def test_nothing_is_lost_double_hung_or_orphaned(tmp_path):
    done = soak(tmp_path, 0.05, parts="sweeps,estimators", most=2)
    assert not any(done.counts[what] for what in WRONG), done.notes
    assert done.counts["sweeps"] >= 1
