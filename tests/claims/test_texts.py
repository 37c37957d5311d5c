"""The claims as they are read from their files, without executing them."""

import subprocess
import sys
from dataclasses import fields, replace
from importlib import import_module
from typing import get_args

import pytest

import giantstep.claims
from giantstep.citations._quoted import Kind, Quoted
from giantstep.claims import CLAIMS, TEXTS, select
from giantstep.claims._read import read
from giantstep.errors import InputError


def test_what_is_read_is_what_the_files_declare():
    """Executing a file gives the claim that was read from its text."""
    for text in TEXTS:
        module = import_module(text.module)
        declared = replace(module.CLAIM, name=text.name, paper=text.paper, module=module.__name__)
        assert declared == text


def test_names_are_unique_and_grouped():
    names = [text.name for text in TEXTS]
    assert len(set(names)) == len(names) and all(name.count("/") == 1 for name in names)


def test_the_order_of_a_folder_is_declared():
    for folder in {text.name.partition("/")[0] for text in TEXTS}:
        orders = [text.order for text in TEXTS if text.name.startswith(f"{folder}/")]
        assert orders == list(range(1, len(orders) + 1)), folder


def test_a_claim_takes_the_functions_of_its_own_file():
    for claim in CLAIMS:
        module = f"giantstep_papers.{claim.name.replace('/', '.').replace('-', '_')}"
        assert claim.compare is import_module(module).compare


def test_all_claims_are_selected_without_names():
    assert giantstep.claims.CLAIMS == select() and len(select()) == len(TEXTS)


def test_reading_loads_no_numerical_package():
    lines = "import sys, giantstep.claims; print([m for m in ('numpy', 'scipy', 'jax') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-P", "-c", lines], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CLAIM = Claim(\n    statement=open('x').read(),\n)\n", "literals and Claim, Judge, Seeds"),
        ("CLAIM = Claim(\n    statement='It is so.',\n)\n", "missing 3 required"),
        ("CLAIM = Claim(\n    statement='It is so.' 3,\n)\n", "invalid syntax"),
    ],
)
def test_a_claim_that_is_no_literal_is_refused(tmp_path, text, why):
    (tmp_path / "odd.py").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"odd.py: CLAIM cannot be read: .*{why}"):
        read(tmp_path)


def test_files_without_a_claim_are_passed_over(tmp_path):
    (tmp_path / "kernels.py").write_text("raise RuntimeError\n", encoding="utf-8")
    assert read(tmp_path) == ()


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
