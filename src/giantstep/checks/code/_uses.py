"""What a statement uses: names with what is asked of them, and strings that may name a module."""

import ast
from collections import defaultdict
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from giantstep.checks.code._bare import for_types

Asked = tuple[str, ...]  # what is asked of a name: gs.theory.kernel asks ("theory", "kernel") of gs
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASIDE = {"annotation", "returns", "ctx", "op", "ops", "lineno", "col_offset", "end_lineno", "end_col_offset"}
# what these name, they name for themselves
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Used(NamedTuple):
    """What a statement uses: paths by their first names, and strings that may name a module."""

    paths: dict[str, set[Asked]]
    texts: set[str]


def uses(statement: ast.stmt, outer: AbstractSet[str]) -> Used:
    """Names and strings outside of annotations; ``outer`` are the names of the module."""
    function = statement if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) else None
    used = Used(defaultdict(set), set())
    given = _looked_through([*function.body] if function else [statement], used)
    if function is None:
        return used
    given_to = function.args
    arguments = [*given_to.posonlyargs, *given_to.args, *given_to.kwonlyargs, given_to.vararg, given_to.kwarg]
    names = {each.arg for each in arguments if each is not None}
    for name in names | (_own(function) if given & outer else set()):
        used.paths.pop(name, None)
    # these do not see the function's own names
    defaults = filter(None, [*function.args.defaults, *function.args.kw_defaults])
    _looked_through([*function.decorator_list, *defaults], used)
    return used


def _looked_through(todo: list[Any], used: Used) -> set[str]:
    """Note what is used; returns the names that get a value."""
    given: set[str] = set()
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Name:
            used.paths[node.id].add(())
            if type(node.ctx) is not ast.Load:
                given.add(node.id)
        elif kind is ast.Attribute:
            home, path = _chain(node)
            if type(home) is ast.Name:
                used.paths[home.id].add(path)
            else:
                todo.append(home)
        elif kind is ast.Constant:
            if type(node.value) is str:
                used.texts.add(node.value)
        elif kind is ast.If and for_types(node):
            todo += node.orelse
        else:
            given |= {node.name} if kind in DEFINED else set()
            for field, part in vars(node).items():
                if field in _ASIDE:
                    continue
                if isinstance(part, ast.AST):
                    todo.append(part)
                elif type(part) is list:
                    todo += [each for each in part if isinstance(each, ast.AST)]
    return given


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names to which a function gives a value of its own, but for imports."""
    names, outer = set(), set()
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Global):
            outer.update(node.names)
        elif isinstance(node, ast.Name):
            names |= {node.id} if isinstance(node.ctx, ast.Store) else set()
        elif isinstance(node, DEFINED):
            names.add(node.name)
        elif not isinstance(node, _SCOPES):
            todo += ast.iter_child_nodes(node)
    return names - outer


def _chain(node: ast.expr) -> tuple[ast.expr, Asked]:
    """``a.b.c`` as a and (b, c)."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return node, tuple(reversed(path))
