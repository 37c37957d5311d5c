"""The versions of the claims: in a copy of the packages, what a change makes new."""

import ast
import dataclasses
import shutil
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from giantstep.checks import code
from giantstep.checks.claim import Claim, Judge
from giantstep.checks.code._bare import WORDS
from giantstep.checks.code._graph import Graph
from giantstep.checks.code._source import loaded_beside
from giantstep.claims import TEXTS
from giantstep.lab.store import Store
from giantstep.lab.store._digest import PACKAGES, digest

HOMES = {name: Path(str(files(name))) for name in PACKAGES}
CLAIMS = {
    "w": "giantstep_papers.demir.width",
    "r": "giantstep_papers.bubeck.rate",
    "s": "giantstep_papers.nguwi.wasserstein",
}
ERRORS = "giantstep/theory/one_step/errors.py"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    home = tmp_path_factory.mktemp("sources")
    for name, folder in HOMES.items():
        shutil.copytree(folder, home / name, ignore=shutil.ignore_patterns("__pycache__", "*.xz", "*.json"))
    return home


def versions(home: Path) -> dict[str, str]:
    """The versions of three claims, small for the measurement and large for the verdict, and of trials."""
    graph = Graph({name: home / name for name in PACKAGES}, PACKAGES, code.PARTED)
    found = {"t": graph.version([(code.TRIALS, ())], (*code.SHOWING, code.PREDICTION))}
    for letter, claim in CLAIMS.items():
        found[letter] = graph.version(code.measured(graph, claim), code.SHOWING, code.CUTS)
        found[letter.upper()] = graph.version([(claim, ()), *code.JUDGING], cuts=code.CUTS)
    return found


@pytest.fixture(scope="module")
def before(copy):
    return versions(copy)


@pytest.mark.parametrize(
    ("file", "old", "new", "which"),
    [
        (ERRORS, "", "\nX = 1\n", "wWrR"),
        (ERRORS, "", "\n# a comment\n", ""),
        ("giantstep/_machine/random.py", "", "\nX = 1\n", "twWrRsS"),
        ("giantstep/simulate/_dense.py", "", "\nX = 1\n", "twW"),
        ("giantstep/systems/attack/ray.py", "", "\nX = 1\n", "rR"),
        ("giantstep_papers/demir/panel.py", "", "\nX = 1\n", ""),  # used by nobody
        ("giantstep_papers/moniri/bulk.py", "", "\nX = 1\n", ""),  # another claim
        ("giantstep_papers/bubeck/rate.py", "roughly ‖δ‖ ≃", "roughly, ‖δ‖ ≃", ""),
        ("giantstep_papers/bubeck/rate.py", "departure=(0.2, 0.1)", "departure=(0.2, 0.11)", "R"),
        ("giantstep_papers/bubeck/rate.py", "RATIO = 2", "RATIO = 3", "rR"),
        (
            "giantstep/checks/statistics/_decision.py",
            "def decide(",
            "def decide(*more, ",
            "WRS",
        ),  # the rule that judges
        ("giantstep/checks/verdict.py", "def rule(", "def rule(*more, ", "WRS"),
        ("giantstep/plot/style.py", "", "\nX = 1\n", "WRS"),
        ("giantstep/lab/work/block.py", "", "\nX = 1\n", "t"),
        ("giantstep/lab/store/_file.py", "", "\nX = 1\n", ""),
        ("giantstep/estimator/steps/_search.py", "", "\nX = 1\n", ""),
        ("giantstep/explorer/_state.py", "", "\nX = 1\n", ""),
        ("giantstep/cli/_options.py", "", "\nX = 1\n", ""),
    ],
)
def test_what_a_change_makes_new(copy, before, file, old, new, which):
    path = copy / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    try:
        path.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")
        after = versions(copy)
    finally:
        path.write_text(text, encoding="utf-8")
    assert {name for name in before if before[name] != after[name]} == set(which)


def test_no_measurement_follows_what_shows_or_keeps_numbers():
    graph = code.library()
    apart = ("claims", "checks.report", "checks.code", "cli", "explorer", "estimator", "story", "plot", "lab.store")
    for claim in TEXTS:
        reached = set(graph.reached(code.measured(graph, claim.module), code.SHOWING, code.CUTS))
        assert claim.module in reached and "giantstep.checks.cache" in reached, claim.name
        assert not [name for name in reached if name.startswith(tuple(f"giantstep.{each}" for each in apart))]


def test_words_are_keywords_of_claims_and_change_no_verdict():
    fields = {each.name for noun in (Claim, Judge) for each in dataclasses.fields(noun)}
    assert set(WORDS) <= fields
    assert not {"kind", "judges", "seeds", "what", "margin", "departure", "mean", "side"} & set(WORDS)


def test_what_is_named_here_is_there():
    graph = code.library()
    modules = {code.TRIALS, code.PREDICTION, *code.SHOWING, *code.PARTED, *code.CUTS}
    assert not [name for name in modules if graph.source(name) is None]
    for module, (name,) in code.JUDGING:
        source = graph.source(module)
        assert source is not None and name in source.binding


# Modules that load others in ways that no source shows, and why nothing is missed.
UNSEEN = {
    "giantstep": 4,  # the public names: __init__.pyi lists them
    "giantstep.checks": 2,  # lists its names for type checkers
    "giantstep.lab.work._call": 1,  # a call is stored with the version of its own function
    "giantstep.claims._own": 1,  # claims, each with its own version
    "giantstep.claims._registry": 1,
}


def test_every_module_is_imported_where_the_source_shows_it():
    found: Counter[str] = Counter()
    for home in HOMES.values():
        for path in home.rglob("*.py"):
            name = ".".join(path.relative_to(home.parent).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.walk(ast.parse(path.read_bytes())):
                if not isinstance(node, ast.Call):
                    continue
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                known = bool(node.args) and isinstance(node.args[0], ast.Constant)
                if called in ("import_module", "__import__", "exec", "run_module", "run_path"):
                    found[name] += not known and not loaded_beside(node)
    assert +found == UNSEEN


def test_a_store_remembers_the_versions_of_sources_that_did_not_change(tmp_path, monkeypatch):
    claim = CLAIMS["r"]
    with Store.open(tmp_path / "store") as store:
        monkeypatch.setattr(code, "_KNOWN", {})
        code.recall(store, [claim])
        known = code.judging(claim)
        monkeypatch.setattr(code, "_KNOWN", {})
        monkeypatch.setattr(code, "library", lambda: pytest.fail("read the sources again"))
        code.recall(store, [claim, "my_claims.width"])
        assert code.judging(claim) == known
        monkeypatch.setattr(code, "_KNOWN", {})
        monkeypatch.setattr(code, "digest", lambda: "another")
        with pytest.raises(pytest.fail.Exception):
            code.recall(store, [claim])


def test_the_digest_names_the_code():
    assert len(digest()) == 8 and digest() == digest() and int(digest(), 16) >= 0
