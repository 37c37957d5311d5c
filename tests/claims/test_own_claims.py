"""Claims of one's own: begun by a command, checked with their folder, cited, shown failing and refused in a sentence."""

import json
import subprocess
import sys
from zlib import crc32

import pytest

import giantstep as gs
from giantstep import cli
from giantstep.claims import select, texts
from giantstep.errors import InputError

SMALL = (('DIMENSION = {"quick": 100', 'DIMENSION = {"quick": 40'), ("Seeds(12, 60)", "Seeds(6, 30)"))


@pytest.fixture
def folder(tmp_path, monkeypatch, request):
    """A folder with the claim that the command writes, made small. Every test has a folder of its own name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"own_{crc32(request.node.name.encode())}"
    assert cli.run(["claim", "new", f"{name}/limit-error"]) == 0
    change(tmp_path / name / "limit_error.py", *SMALL)
    return tmp_path / name


def change(path, *pairs):
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def outcomes(folder, *options):
    name = f"{folder.name}/"
    lines = ["-P", "-m", "giantstep", "check", name, "--json", *options]
    ran = subprocess.run([sys.executable, *lines], capture_output=True, text=True, cwd=folder.parent)
    assert ran.stdout, ran.stderr
    return {each["claim"]: each for each in json.loads(ran.stdout)["results"]}


def test_a_new_claim_runs_and_has_its_page(folder):
    (result,) = outcomes(folder).values()
    assert result["outcome"] in ("holds", "undecided at these sizes") and result["error"] is None
    page = (folder.parent / "report" / "papers" / f"{folder.name}.html").read_text(encoding="utf-8")
    assert "The title of the paper" in page and "Author and Author" in page and "limit-error.svg" in page
    assert "may be off by 5% (full size 2%), because of terms of order 1/d" in page


def test_workers_load_it(folder):
    change(folder / "limit_error.py", ("order=1", "order=2"))
    (folder / "another.py").write_text((folder / "limit_error.py").read_text(encoding="utf-8"), encoding="utf-8")
    found = outcomes(folder, "--workers", "2")
    assert list(found) == [f"{folder.name}/another", f"{folder.name}/limit-error"]
    assert all(each["error"] is None and each["rows"] for each in found.values())


def test_in_a_wrong_world_it_is_contradicted(folder):
    change(folder / "limit_error.py", ("cache.simulate(each, seeds)", "cache.simulate(each.with_(penalty=3.0), seeds)"))
    (result,) = outcomes(folder).values()
    assert result["outcome"] == "contradicted"


def test_it_is_checked_from_python_and_listed_without_being_executed(folder, capsys):
    (result,) = gs.check(f"{folder.name}/limit-error")
    assert result.claim.name == f"{folder.name}/limit-error" and result.claim.cites.title == "The title of the paper"
    change(folder / "limit_error.py", ("import numpy as np", "raise SystemExit"))
    assert [each.name for each in texts([folder.name])] == [f"{folder.name}/limit-error"]
    capsys.readouterr()
    assert cli.run(["check", "--list", folder.name]) == 0
    assert "The test error of random features" in capsys.readouterr().out


def test_kernels_of_the_folder_are_imported_by_its_name(folder):
    (folder / "kernels.py").write_text("SAMPLES = (1, 3)\n", encoding="utf-8")
    change(folder / "limit_error.py", ("SAMPLES = (1, 2, 4)  # n/d", f"from {folder.name}.kernels import SAMPLES"))
    (claim,) = select([str(folder / "limit_error.py")])
    assert len(claim.predict("quick")["errors"]) == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("because=", "becuase=", "limit_error.py: CLAIM cannot be read: .*becuase"),
        ("def compare", "def compere", "does not define compare"),
        ("import numpy as np", "import nonumpy", "cannot be loaded: ModuleNotFoundError: No module named 'nonumpy'"),
        (
            "CLAIM = Claim(",
            "CLAIM = made(",
            "CLAIM cannot be read: it may hold literals and Claim, Judge, Seeds, Paper",
        ),
        ("CLAIM = ", "STATEMENT = ", "There is no claim in"),
    ],
)
def test_a_broken_claim_is_refused_in_a_sentence(folder, old, new, said):
    change(folder / "limit_error.py", (old, new))
    with pytest.raises(InputError, match=said):
        select([folder.name])


def test_a_folder_without_a_paper_or_with_the_name_of_a_package_is_refused(folder, tmp_path):
    (folder / "__init__.py").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="does not say which paper"):
        select([folder.name])
    assert cli.run(["claim", "new", "json/claim"]) == 0
    with pytest.raises(InputError, match="Another package is called 'json'|cannot be loaded"):
        select(["json"])


@pytest.mark.parametrize("name", ["nowhere/", "empty"])
def test_a_folder_without_claims_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="There is no (claim|folder)"):
        select([name])


def test_a_claim_is_not_written_over_another_or_in_an_odd_place(folder, capsys):
    assert cli.run(["claim", "new", f"{folder.name}/limit-error"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert cli.run(["claim", "new", "my-claims/one"]) == 2
    assert "no place for a claim" in capsys.readouterr().err
