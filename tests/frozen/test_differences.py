"""What the comparison of frozen data notices."""

import pytest

from tests.frozen.written import differences

SAME = [
    (1.0, 1.0 + 1e-12),
    ([1e-17, 1.0], [-1e-17, 1.0]),  # rounding errors beside a large number
    ([[0.0, 5.0]], [[1e-12, 5.0]]),
    ({"a": None, "b": "x"}, {"b": "x", "a": None}),
]
OTHER = [
    (1.0, 1.0 + 1e-8),
    (1e-17, -1e-17),
    ([1.0, 1.0], [1.0, 1.0 + 1e-8]),
    (1.0, 1),
    (1, True),
    (0.0, None),
    ("a text", "a text."),
    ([1.0], [1.0, 1.0]),
    ([], None),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": None}),
    ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}),
]


@pytest.mark.parametrize(("frozen", "found"), SAME)
def test_rounding_is_no_difference(frozen, found):
    assert not differences(frozen, found, 1e-9)


@pytest.mark.parametrize(("frozen", "found"), OTHER)
def test_anything_else_is_one_difference_or_more(frozen, found):
    assert differences(frozen, found, 1e-9)
    assert differences(found, frozen, 1e-9)


def test_the_place_is_named():
    (line,) = differences({"a": [{"b": "old"}]}, {"a": [{"b": "new"}]})
    assert line == ".a[0].b: 'old' is now 'new'"
