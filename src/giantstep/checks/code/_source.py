"""Module: what a source file holds, as its syntax tree shows it; nothing is executed."""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import decode_source
from pathlib import Path
from typing import NamedTuple

from giantstep.checks.code._bare import codes, for_types, nested
from giantstep.checks.code._uses import DEFINED, Asked, Used, uses
from giantstep.errors import InputError


class Import(NamedTuple):
    """``bound`` is the name that it has here; empty if it has none of its own."""

    bound: str
    module: str
    name: str = ""

    def asked(self, path: Asked) -> Asked:
        """What is asked of the module."""
        return (self.name, *path) if self.name else path


@dataclass(frozen=True)
class Module:
    """What a module holds; its syntax tree is not kept.

    Attributes:
        name: the name of the module.
        package: whether it is the ``__init__`` of a package.
        public: for names that are loaded when they are used, the module and the name in it.
        codes: the code of every statement.
        imports: the imports of every statement, those inside functions too.
        shared: the imports outside of functions and classes, by the name that they have in the module.
        binding: the statements, by number, that give a name its value.
        effects: the statements that do something when the module is loaded.
        used: what every statement uses; empty if this was not asked for.
        beside: modules beside a class that a method loads, by
            ``import_module(f"{type(self).__module__}.theory")``.
    """

    name: str
    package: bool
    public: dict[str, tuple[str, str]]
    codes: list[bytes]
    imports: list[list[Import]]
    shared: dict[str, list[Import]]
    binding: dict[str, list[int]]
    effects: list[int]
    used: list[Used]
    beside: set[str]

    @cached_property
    def mark(self) -> bytes:
        """The digest of the whole module."""
        return hashlib.sha256(b"".join(self.codes)).digest()


def read(name: str, path: Path, by_parts: Callable[[bool, str], bool]) -> Module:
    """Read a module; ``by_parts(package, text)`` says whether its uses are wanted."""
    package, stub = path.name == "__init__.py", path.with_suffix(".pyi")
    text, body = _parsed(path)
    public = _public(_parsed(stub)[1] if stub.is_file() else _late(body)) if package else {}
    public = {each: home for each, home in public.items() if home != (name, each)}  # those are modules
    inside = [nested([each]) for each in body]
    imports = [[found for each in some for found in _imports(each, name, package)] for some in inside]
    shared, binding = defaultdict(list), defaultdict(list)
    for i, statement in enumerate(body):
        for found in () if isinstance(statement, DEFINED) else imports[i]:
            shared[found.bound].append(found)
        for bound in _bound(statement):
            binding[bound].append(i)
    code = codes(text, body, [each for some in inside for each in some])
    effects = [i for i, each in enumerate(body) if code[i] and not _plain(each)]
    outer = {*binding, *shared}
    used = [uses(each, outer) for each in body] if by_parts(package, text) else []
    return Module(name, package, public, code, imports, shared, binding, effects, used, _beside(text, body))


def _imports(statement: ast.stmt, module: str, package: bool) -> Iterator[Import]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            top = alias.name.partition(".")[0]
            yield Import(alias.asname or top, alias.name if alias.asname else top)
            if "." in alias.name and not alias.asname:
                yield Import("", alias.name)
    elif isinstance(statement, ast.ImportFrom):
        home = statement.module or ""
        if statement.level:  # relative
            parts = module.split(".")
            above = parts[: len(parts) - statement.level + package]
            home = ".".join([*above, *filter(None, [home])])
        yield from (Import(alias.asname or alias.name, home, alias.name) for alias in statement.names)


def _beside(text: str, body: Sequence[ast.stmt]) -> set[str]:
    if "import_module" not in text:
        return set()
    calls = [each for statement in body for each in ast.walk(statement) if isinstance(each, ast.Call)]
    return {name for each in calls for name in [loaded_beside(each)] if name}


def loaded_beside(call: ast.Call) -> str:
    """``theory`` of ``import_module(f"{type(self).__module__}.theory")``; empty for another call."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = call.args[0] if call.args else None
    if function != "import_module" or not isinstance(given, ast.JoinedStr) or len(given.values) != 2:
        return ""
    home, last = given.values
    if not isinstance(home, ast.FormattedValue) or ast.unparse(home.value) != "type(self).__module__":
        return ""
    return str(last.value).removeprefix(".") if isinstance(last, ast.Constant) else ""


def _parsed(path: Path) -> tuple[str, list[ast.stmt]]:
    try:
        text = decode_source(path.read_bytes())
        return text, ast.parse(text).body
    except (SyntaxError, ValueError) as problem:
        line = f", line {problem.lineno}" if isinstance(problem, SyntaxError) and problem.lineno else ""
        raise InputError(f"{path}{line}: this is not Python that can be read ({problem.args[0]})") from None


def _late(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What a package with ``__getattr__`` lists for type checkers: the names that are loaded when they are used."""
    late = any(isinstance(each, DEFINED) and each.name == "__getattr__" for each in body)
    return [line for each in body if late and for_types(each) for line in each.body]


def _public(stub: Sequence[ast.stmt]) -> dict[str, tuple[str, str]]:
    """The module and the name in it of every name that a stub passes on."""
    lines = [line for line in stub if isinstance(line, ast.ImportFrom)]
    found = {each.asname: (line.module or "", each.name) for line in lines for each in line.names if each.asname}
    for line in stub:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Name) and line.value.id in found:
            found |= {each.id: found[line.value.id] for each in line.targets if isinstance(each, ast.Name)}
    return found


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a value."""
    if isinstance(statement, DEFINED):
        return {statement.name}
    names = (each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    parts = [each for each in nested([statement]) if isinstance(each, DEFINED)]
    return {*names, *(each.name for each in parts)}


def _plain(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but give names a value."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(each, ast.Name | ast.Tuple) for each in statement.targets)
    return isinstance(statement, (*DEFINED, ast.Import, ast.ImportFrom, ast.AnnAssign, ast.Pass)) or for_types(
        statement
    )
