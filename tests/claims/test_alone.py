"""Which claims run side by side, and in which order they begin."""

from giantstep.checks._expected import longest_first
from giantstep.claims import TEXTS, select
from giantstep.claims._alone import apart
from giantstep.claims._full import seconds


def test_every_worker_takes_a_claim_where_there_are_enough():
    assert not apart("quick", 5, None) and not apart("full", 90, None)
    assert apart("quick", 2, 8) and not apart("quick", 1, 8)
    assert apart("full", 48, 16) and not apart("full", 47, 16)


def test_the_longest_claims_begin_first_at_either_size():
    names = {text.name for text in TEXTS}
    first = {}
    for size in ("quick", "full"):
        assert seconds(size).keys() <= names
        first[size] = longest_first(select(), seconds(size))[0].name
        assert seconds(size)[first[size]] == max(seconds(size).values())
    assert first["quick"] != first["full"]
