"""States of the explorer and the queries of their addresses."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.explorer._state import VIEWS, Choice, SliderRange, ViewState, read, read_query, write


def law(of) -> st.SearchStrategy:
    bounds = of.metadata["of"]
    if isinstance(bounds, Choice):
        return st.sampled_from(bounds.options)
    if isinstance(bounds, SliderRange):
        if bounds.whole:
            return st.integers(int(bounds.least), int(bounds.most))
        return st.floats(bounds.least, bounds.most)
    return st.text(st.characters(categories=("L", "N", "P", "S")), max_size=bounds.longest)


@st.composite
def states(draw) -> ViewState:
    kind = draw(st.sampled_from(list(VIEWS.values())))
    return kind(**{of.name: draw(law(of)) for of in fields(kind)})


@given(states())
def test_a_state_comes_back_from_its_query(state):
    assert read_query(type(state), write(state)) == (state, [])


@pytest.mark.parametrize("kind", VIEWS.values())
def test_a_query_with_everything_wrong_gives_the_default_and_a_sentence_each(kind):
    state, refused = read(kind, {of.name: ["list"] for of in fields(kind)})
    assert state == kind() and len(refused) == len(fields(kind))
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in refused)


@pytest.mark.parametrize(
    "raw",
    ["nan", "inf", "-inf", "1e999", "1e9", "-1", "", "x", "0x10", "9" * 5000, True, None, 10**400, {}, "1_0_0_0_0"],
)
def test_numbers_outside_their_bounds_are_refused(raw):
    state, refused = read(VIEWS["one-step"], {"n_over_d": raw})
    assert state == VIEWS["one-step"]() and refused[0].startswith("Samples must be a number from 0.25 to 8, not ")
    assert len(refused[0]) < 100


def test_whole_numbers_are_whole():
    _, refused = read(VIEWS["one-step"], {"seeds": "2.5"})
    assert refused == ["Seeds must be a whole number from 1 to 10, not '2.5'."]


def test_texts_are_short_and_printable():
    assert "at most 300" in read(VIEWS["explain"], {"target": "x" * 301})[1][0]
    assert "printable" in read(VIEWS["explain"], {"target": "x1\n+ x2"})[1][0]


def test_a_query_is_short_and_has_no_fields_of_its_own():
    kind = VIEWS["explain"]
    assert read_query(kind, "?" + "a" * 5000)[1] == ["The address is too long: at most 4000 characters are read."]
    assert read_query(kind, "&".join(f"a{i}=1" for i in range(60)))[1] == ["The address holds too many values."]
    assert read_query(kind, "__class__=1")[1] == ["There is no '__class__' in this view: it was left out."]


def test_the_last_of_a_value_given_twice_counts():
    assert read_query(VIEWS["one-step"], "alpha=0.1&alpha=0.2")[0] == replace(VIEWS["one-step"](), alpha=0.2)
