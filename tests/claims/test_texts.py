"""The texts of claims.toml and the claims that take theirs from it."""

from importlib import import_module
from pathlib import Path

import giantstep.claims
from giantstep.claims import CLAIMS, TEXTS, select
from giantstep.claims.registry import CLAIMS as REGISTERED


def test_every_text_has_a_claim_and_every_claim_a_text_in_the_same_order():
    fields = ("name", "paper", "where", "statement", "test")
    assert [[getattr(each, field) for field in fields] for each in CLAIMS] == [
        [getattr(each, field) for field in fields] for each in TEXTS
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
