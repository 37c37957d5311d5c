"""The texts of claims.toml and the claims that take theirs from it."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import giantstep.claims
from giantstep.citations.quoted import Kind, Quoted
from giantstep.claims import CLAIMS, TEXTS, select
from giantstep.claims.registry import CLAIMS as REGISTERED


def test_every_text_has_a_claim_and_every_claim_a_text_in_the_same_order():
    names = ("name", "paper", "where", "statement", "test")
    assert [[getattr(each, name) for name in names] for each in CLAIMS] == [
        [getattr(each, name) for name in names] for each in TEXTS
    ]


def test_names_are_unique_and_grouped():
    names = [text.name for text in TEXTS]
    assert len(set(names)) == len(names) and all(name.count("/") == 1 for name in names)


def test_a_claim_is_in_the_file_of_its_name():
    home = Path(giantstep.claims.__file__).parent
    for claim in CLAIMS:
        paper, name = claim.name.replace("-", "_").split("/")
        (file,) = (home / paper).rglob(f"{name}.py")
        module = ".".join(file.relative_to(home).with_suffix("").parts)
        assert import_module(f"giantstep.claims.{module}").compare is claim.compare


def test_all_of_the_registry_is_selected_without_names():
    assert giantstep.claims.CLAIMS is REGISTERED and select() == REGISTERED


def test_every_claim_has_a_quote_or_is_our_own():
    for text in TEXTS:
        assert bool(text.quote) != (text.of == "giantstep"), text.name
        assert bool(text.quote) == bool(text.place), text.name
        assert (text.kind == "ours") == (text.of == "giantstep"), text.name
    assert all(text.of == "giantstep" for text in TEXTS if text.paper == "giantstep")


def test_quotes_are_short_and_their_kinds_are_known():
    assert {text.kind for text in TEXTS} <= set(get_args(Kind))
    assert [text.name for text in TEXTS if len(text.quote.split()) > 40] == []


def test_the_words_of_a_text_are_those_of_its_claim():
    for text, claim in zip(TEXTS, CLAIMS, strict=True):
        assert [getattr(text, each.name) for each in fields(Quoted)] == [
            getattr(claim, each.name) for each in fields(Quoted)
        ]


def test_the_words_of_a_source_in_one_line():
    quoted = Quoted(quote="It is so.", place="slide 3", kind="theorem")
    assert quoted.said == "Source: “It is so.” (slide 3)"
    assert Quoted(of="giantstep").said == "Our own statement." and Quoted().said == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "It is so.", "kind": "remark"},  # no place
        {"place": "slide 3"},
        {"quote": "It is so.", "place": "slide 3"},  # no kind
        {"quote": "It is so.", "place": "slide 3", "kind": "remark", "of": "giantstep"},
        {"of": "giantstep", "kind": "remark"},
    ],
)
def test_words_that_contradict_each_other_are_refused(wrong):
    with pytest.raises(ValueError):
        Quoted(**wrong)
