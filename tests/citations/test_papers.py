"""The papers: complete, distinct, and BibTeX that parses."""

import re
import subprocess
import sys

import pytest

from giantstep.citations import PAPERS, Paper, paper
from giantstep.claims import TEXTS


def fields(entry: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, flags=re.MULTILINE))


def test_keys_and_identifiers_are_distinct():
    assert len({each.key for each in PAPERS}) == len(PAPERS)
    arxiv = [each.arxiv for each in PAPERS if each.arxiv]
    assert len(set(arxiv)) == len(arxiv)
    assert all(re.fullmatch(r"\d{4}\.\d{4,5}", each) for each in arxiv)


@pytest.mark.parametrize("each", PAPERS, ids=lambda each: each.key)
def test_bibtex_has_balanced_braces_and_the_fields_of_the_paper(each: Paper):
    entry = each.bibtex
    assert entry.count("{") == entry.count("}")
    assert entry.isascii()
    assert re.match(rf"@(inproceedings|article|misc)\{{{each.key}{each.year},\n", entry)
    assert fields(entry)["year"] == str(each.year)
    assert len(fields(entry)["author"].split(" and ")) == len(each.authors)


def test_volume_number_and_pages_are_split():
    found = fields(paper("mei_montanari").bibtex)
    assert (found["volume"], found["number"], found["pages"]) == ("75", "4", "667--766")


def test_every_claim_names_a_paper_of_the_list():
    assert {claim.paper for claim in TEXTS} <= {each.key for each in PAPERS}
    assert len({claim.name for claim in TEXTS}) == len(TEXTS)


def test_short_names():
    assert paper("moniri").short == "Moniri et al. (2024)"
    assert paper("hu_lu").short == "Hu and Lu (2023)"


def test_importing_the_papers_imports_no_numerical_package():
    code = "import sys, giantstep.citations; print({'jax', 'numpy', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
