"""The public names with their parameters and what is inside, and pickles of the public nouns."""

import ast
import pickle
from dataclasses import fields, is_dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from tests.frozen import public

FROZEN = public.FILE.read_text(encoding="utf-8").splitlines()
CLASSES = [line[6 : line.index("(")] for line in FROZEN if line.startswith("class ")]


@pytest.fixture(scope="module")
def nouns() -> dict[str, Any]:
    return public.nouns()


def test_names_and_parameters_are_as_they_were():
    changed = list(
        unified_diff(FROZEN, public.text().splitlines(), "frozen", "now", n=0, lineterm="")
    )
    assert not changed, "\n".join(changed)
    assert not any(" at 0x" in line for line in FROZEN)  # the address of an object


def test_what_type_checkers_know_inside_the_verbs_is_frozen():
    stub = ast.parse((Path(gs.__file__).parent / "_verbs.pyi").read_text(encoding="utf-8")).body
    for node in stub:
        if isinstance(node, ast.ClassDef):
            assigned = [part.targets[0] for part in node.body if isinstance(part, ast.Assign)]
            known = {each.id for each in assigned if isinstance(each, ast.Name)} - {"__call__"}
            assert known == set(public.INSIDE[node.name.removeprefix("_").lower()].split())


def test_there_is_one_of_every_noun(nouns):
    classes = {name: getattr(gs, name) for name in CLASSES}
    assert {name: type(nouns.get(name)) for name in CLASSES} == classes


@pytest.mark.parametrize("name", [*CLASSES, "activation", "power", "target"])
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_noun_comes_back_from_a_pickle(name, protocol, nouns):
    noun = nouns[name]
    back = pickle.loads(pickle.dumps(noun, protocol))
    assert type(back) is type(noun) and repr(back) == repr(noun) and plain(back) == plain(noun)
    if isinstance(noun, gs.Setting):
        assert back.id == noun.id


def plain(value: Any) -> Any:
    """All that a value holds, arrays as lists."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, Exception):
        return value.args
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
