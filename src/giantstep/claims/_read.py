"""read(folder): what the claims in a folder say, without executing a line of them.

A file with a top-level ``CLAIM = Claim(...)`` is a claim. What stands in the brackets is data:
literals, and the nouns ``Judge`` and ``Seeds``. So a list of claims is made from their texts.
"""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from giantstep.checks.claim import EXPONENT, LIMIT, Claim, Judge, Seeds
from giantstep.citations import Paper
from giantstep.errors import InputError

NOUNS = {each.__name__: each for each in (Claim, Judge, Seeds, Paper)}
CONSTANTS = {"EXPONENT": EXPONENT, "LIMIT": LIMIT}


def read(folder: Path, package: str = "") -> tuple[Claim, ...]:
    """The claims of a folder in their order, named ``folder/claim``.

    ``package`` is what the folder is called in imports, if that is not its own name.
    """
    found = ((path, declared(path, "CLAIM")) for path in sorted(folder.glob("*.py")))
    named = [
        replace(
            claim,
            name=f"{folder.name}/{name_of(path)}",
            paper=claim.paper or folder.name,
            module=f"{package or folder.name}.{path.stem}",
        )
        for path, claim in found
        if claim is not None
    ]
    return tuple(sorted(named, key=lambda claim: claim.order))


def name_of(path: Path) -> str:
    """The name that the claim in a file has in its folder."""
    return path.stem.replace("_", "-")


def declared(path: Path, name: str) -> Any:
    """What a file declares by ``NAME = Noun(...)`` at its top level, or None."""
    found = re.search(rf"^{name} = (\w+\(.*?^\))$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if found is None:
        return None
    try:
        return _value(ast.parse(found[1], mode="eval").body)
    except (SyntaxError, TypeError, ValueError) as problem:
        raise InputError(f"{path.name}: {name} cannot be read: {problem}") from None


def _value(node: ast.expr) -> Any:
    """The value of an expression of literals and nouns."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NOUNS:
        named = {each.arg: _value(each.value) for each in node.keywords if each.arg}
        return NOUNS[node.func.id](*map(_value, node.args), **named)
    raise ValueError(f"it may hold literals and {', '.join(NOUNS)}, not {ast.unparse(node)}")
