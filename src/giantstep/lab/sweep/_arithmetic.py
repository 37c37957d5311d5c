"""Arithmetic: compute a number from an expression such as ``2*d`` or ``d^0.5``. ``eval`` is never called."""

import ast
import math
from collections.abc import Callable, Mapping

from giantstep.errors import InputError

MAX_LENGTH = 200
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "log": math.log, "exp": math.exp, "floor": math.floor, "ceil": math.ceil, "round": round,
    "min": min, "max": max,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e}
_OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


def names(text: str) -> tuple[str, ...]:
    """The names that an expression uses, each once."""
    called = {node.func for node in ast.walk(_tree(text)) if isinstance(node, ast.Call)}
    used = (node for node in ast.walk(_tree(text)) if isinstance(node, ast.Name))
    known = {node.id for node in called if isinstance(node, ast.Name)} | set(_CONSTANTS)
    return tuple(dict.fromkeys(node.id for node in used if node.id not in known))


def value(text: str, known: Mapping[str, float]) -> float:
    """Compute the value of an expression, a finite number."""
    for name in names(text):
        if name not in known:
            raise InputError(
                f"the expression {text!r} uses {name!r}, which is neither an axis nor a number of the setting"
            )
    try:
        number = _evaluate(_tree(text), known, text)
    except (OverflowError, ZeroDivisionError, ValueError, TypeError) as problem:
        if isinstance(problem, InputError):
            raise
        number = math.nan
    if isinstance(number, complex) or not math.isfinite(number):
        at = ", ".join(f"{name} = {known[name]:g}" for name in names(text))
        raise InputError(f"the expression {text!r} is not a finite number at {at or 'all'}")
    return float(number)


def _tree(text: str) -> ast.expr:
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise InputError(f"an expression has at most {MAX_LENGTH} characters, such as 2*d")
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"cannot read the expression {text!r}: write numbers, names and + - * / ^ ( )") from None


def _evaluate(node: ast.expr, known: Mapping[str, float], text: str) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in known:
        return float(known[node.id])
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        number = _evaluate(node.operand, known, text)
        return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, known, text), _evaluate(node.right, known, text))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        return float(_FUNCTIONS[node.func.id](*(_evaluate(each, known, text) for each in node.args)))
    raise InputError(f"the expression {text!r} may only use numbers, names, + - * / ^ ( ) and {', '.join(_FUNCTIONS)}")
