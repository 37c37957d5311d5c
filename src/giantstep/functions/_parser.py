"""Formulas a user types: tokenizer, parser and a small syntax tree. Nothing is ever eval'ed.

    sum     := product (("+" | "-") product)*
    product := unary (("*" unary) | ("/" constant))*
    unary   := ("-" | "+") unary | power
    power   := atom ("^" whole number)?
    atom    := number | pi | sqrt(constant) | variable | H<k>(sum) | <function>(sum) | "(" sum ")"

Variables are x1, x2, ... (a target) or x alone (an activation, where a bare function name means that function of x).
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import pi, sqrt

import numpy as np

from giantstep.errors import InputError, hint
from giantstep.functions._named import NAMES, named
from giantstep.functions.hermite import hermite

MAX_DEGREE, MAX_RANK, MAX_LENGTH, MAX_DEPTH = 20, 8, 2000, 60
LARGEST = 1e50  # the size of a number; the smallest is its inverse


@dataclass(frozen=True)
class Constant:
    value: Fraction | float


@dataclass(frozen=True)
class Variable:
    index: int  # 0-based


@dataclass(frozen=True)
class Sum:
    terms: tuple["Node", ...]


@dataclass(frozen=True)
class Product:
    factors: tuple["Node", ...]


@dataclass(frozen=True)
class IntegerPower:
    base: "Node"
    exponent: int


@dataclass(frozen=True)
class Hermite:
    order: int
    argument: "Node"


@dataclass(frozen=True)
class Application:
    name: str
    argument: "Node"


Node = Constant | Variable | Sum | Product | IntegerPower | Hermite | Application

_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^()]))", re.ASCII
)


@dataclass(frozen=True)
class _Token:
    kind: str  # "number", "name", "sign", "end"
    text: str
    place: int


def parse(text: str, *, univariate: bool = False) -> Node:
    """The syntax tree of a formula; a bad one raises InputError with a caret under the place."""
    if not isinstance(text, str):
        raise InputError(f"a formula must be a string, not {type(text).__name__}")
    return _tree(text, univariate)


@lru_cache(maxsize=256)
def _tree(text: str, univariate: bool) -> Node:
    """Trees are frozen, and every copy of a setting asks for those of its formulas again."""
    return _Parser(text, univariate).parse()


class _Parser:
    """Recursive descent over the tokens; every refusal names its place."""

    def __init__(self, text: str, univariate: bool):
        self.text, self.univariate, self.at, self.depth = text, univariate, 0, 0
        if len(text) > MAX_LENGTH:
            raise InputError(f"the formula has {len(text)} characters; at most {MAX_LENGTH} are read")
        self.tokens = self._tokenize()

    def refuse(self, message: str, place: int) -> InputError:
        shown = "".join(c if c.isprintable() else " " for c in self.text)
        return InputError(f"{message}\n  {shown}\n  {' ' * place}^")

    def _tokenize(self) -> list[_Token]:
        tokens, place = [], 0
        while self.text[place:].strip():
            match = _TOKEN.match(self.text, place)
            if match is None:
                place += len(self.text[place:]) - len(self.text[place:].lstrip())
                raise self.refuse(f"unexpected character {self.text[place]!r} in the formula", place)
            kind = ("number", "name", "sign")[match.lastindex - 1]  # type: ignore[operator]
            tokens.append(_Token(kind, match.group(match.lastindex), match.start(match.lastindex)))  # type: ignore[arg-type]
            place = match.end()
        return [*tokens, _Token("end", "", len(self.text))]

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self, *signs: str) -> _Token | None:
        token = self.token
        if token.kind == "sign" and token.text in signs:
            self.at += 1
            return token
        return None

    def parse(self) -> Node:
        if self.token.kind == "end":
            raise self.refuse("the formula is empty; write for example " + ("relu" if self.univariate else "x1"), 0)
        node = self.sum()
        if self.token.kind != "end":
            problem = "an unbalanced ')'" if self.token.text == ")" else f"unexpected {self.token.text!r}"
            hint = "; products need a *" if self.token.kind == "name" or self.token.text == "(" else ""
            raise self.refuse(f"{problem} in the formula{hint}", self.token.place)
        return node

    def sum(self) -> Node:
        terms = [self.product()]
        while sign := self.take("+", "-"):
            term = self.product()
            terms.append(negate(term) if sign.text == "-" else term)
        return self.checked(add(*terms), self.token.place)

    def product(self) -> Node:
        place, node = self.token.place, self.unary()
        while sign := self.take("*", "/"):
            at = self.token.place
            right = self.unary()
            if sign.text == "/":
                if not isinstance(right, Constant):
                    raise self.refuse("division is by a number only", at)
                if right.value == 0:
                    raise self.refuse("division by zero", at)
                right = self.checked(Constant(1 / right.value), at)
            node = self.checked(multiply(node, right), place)
        return node

    def unary(self) -> Node:
        if sign := self.take("-", "+"):
            self.enter(sign.place)
            node = self.unary()
            self.depth -= 1
            return negate(node) if sign.text == "-" else node
        return self.power()

    def power(self) -> Node:
        place, node = self.token.place, self.atom()
        if sign := self.take("^", "**"):
            token = self.token
            if token.kind != "number" or not token.text.isdigit() or len(token.text) > 3:
                raise self.refuse(
                    "an exponent must be a whole number such as 2", token.place if token.text else sign.place
                )
            self.at += 1
            if int(token.text) > MAX_DEGREE:
                raise self.refuse(f"the exponent {token.text} is over {MAX_DEGREE}", token.place)
            node = self.checked(raise_to(node, int(token.text)), place)
        return node

    def enter(self, place: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(f"the formula nests deeper than {MAX_DEPTH} levels", place)

    def inside(self, opening: _Token) -> Node:
        """The sum between parentheses whose opening one was just taken."""
        self.enter(opening.place)
        node = self.sum()
        self.depth -= 1
        if self.take(")") is None:
            raise self.refuse("this parenthesis is never closed", opening.place)
        return node

    def atom(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.at += 1
            return self.number(token)
        if opening := self.take("("):
            return self.inside(opening)
        if token.kind == "name":
            self.at += 1
            return self.name(token)
        problem = "the formula ends too early" if token.kind == "end" else f"unexpected {token.text!r} in the formula"
        raise self.refuse(problem, token.place)

    def number(self, token: _Token) -> Node:
        if not _usable(float(token.text)):
            raise self.refuse(f"the number {token.text} is too large or too small", token.place)
        small = len(token.text) < 30 and abs(int(token.text.lower().partition("e")[2] or 0)) < 300
        return Constant(Fraction(token.text) if small else float(token.text))

    def name(self, token: _Token) -> Node:
        if token.text == "pi":
            return Constant(pi)
        if (node := self.variable(token)) is not None:
            return node
        hermite = re.fullmatch(r"(?:H|He|He_|H_)(\d+)", token.text, re.ASCII)
        if hermite is None and token.text not in (*NAMES, "sqrt"):
            known = ("x" if self.univariate else "x1", "H2", *NAMES, "sqrt", "pi")
            raise self.refuse(f"unknown name {token.text!r}{hint(token.text, known)}", token.place)
        opening = self.take("(")
        if opening is None and (not self.univariate or token.text == "sqrt"):
            raise self.refuse(f"{token.text} needs its argument in parentheses", token.place)
        argument = self.inside(opening) if opening else Variable(0)
        if hermite is not None:
            order = int(hermite[1][:6])
            if order > MAX_DEGREE:
                raise self.refuse(f"the degree {order} is over {MAX_DEGREE}", token.place)
            return self.checked(_folded(Hermite(order, argument)), token.place)
        if token.text == "sqrt":
            if not isinstance(argument, Constant) or argument.value < 0:
                raise self.refuse("sqrt takes a number that is not negative", token.place)
            return Constant(sqrt(argument.value))
        return self.checked(_folded(Application(token.text, argument)), token.place)

    def variable(self, token: _Token) -> Node | None:
        if self.univariate:
            if re.fullmatch(r"x\d+", token.text, re.ASCII):
                raise self.refuse("an activation is a function of x alone", token.place)
            return Variable(0) if token.text == "x" else None
        match = re.fullmatch(r"x(\d*)", token.text, re.ASCII)
        if match is None:
            return None
        index = int(match[1][:6] or 0)
        if index < 1:
            raise self.refuse(f"bad index in {token.text!r}: write x1, x2, ..., x{MAX_RANK}", token.place)
        if index > MAX_RANK:
            raise self.refuse(f"{token.text} asks for more than {MAX_RANK} directions", token.place)
        return Variable(index - 1)

    def checked(self, node: Node, place: int) -> Node:
        if degree(node) > MAX_DEGREE:
            raise self.refuse(f"the degree {degree(node)} is over {MAX_DEGREE}", place)
        parts = node.terms if isinstance(node, Sum) else node.factors if isinstance(node, Product) else (node,)
        if not all(_usable(part.value) for part in parts if isinstance(part, Constant)):
            raise self.refuse("this number is too large or too small", place)
        return node


def _usable(value: Fraction | float) -> bool:
    """Whether the squares of a number, and theirs, are numbers too."""
    return value == 0 or 1 / LARGEST <= abs(value) <= LARGEST


# Smart constructors: constants are folded, sums and products flattened. They keep the order the user typed.


def add(*terms: Node) -> Node:
    flat = [t for term in terms for t in (term.terms if isinstance(term, Sum) else (term,))]
    constant = sum((t.value for t in flat if isinstance(t, Constant)), Fraction(0))
    rest = tuple(t for t in flat if not isinstance(t, Constant))
    if constant != 0 or not rest:
        rest = (*rest, Constant(constant))
    return rest[0] if len(rest) == 1 else Sum(rest)


def multiply(*factors: Node) -> Node:
    flat = [f for factor in factors for f in (factor.factors if isinstance(factor, Product) else (factor,))]
    constant: Fraction | float = Fraction(1)
    for f in flat:
        if isinstance(f, Constant):
            constant = constant * f.value
    rest = tuple(f for f in flat if not isinstance(f, Constant))
    if constant == 0 or not rest:
        return Constant(constant)
    if constant != 1:
        rest = (Constant(constant), *rest)
    return rest[0] if len(rest) == 1 else Product(rest)


def _folded(node: "Hermite | Application") -> Node:
    """A function of a constant is a constant."""
    if not isinstance(node.argument, Constant):
        return node
    at = np.asarray(float(node.argument.value))
    function = None if isinstance(node, Hermite) else named(node.name)
    with np.errstate(all="ignore"):
        return Constant(float(hermite(node.order, at) if function is None else function.value(at)))  # type: ignore


def negate(node: Node) -> Node:
    return multiply(Constant(Fraction(-1)), node)


def raise_to(node: Node, exponent: int) -> Node:
    if isinstance(node, Constant):
        try:
            return Constant(node.value**exponent)
        except OverflowError:
            return Constant(float("inf"))
    if exponent == 0:
        return Constant(Fraction(1))
    return node if exponent == 1 else IntegerPower(node, exponent)


def degree(node: Node) -> int:
    """Polynomial degree; a function call counts as degree 0 (it is not a polynomial)."""
    match node:
        case Variable():
            return 1
        case Sum(terms):
            return max(degree(t) for t in terms)
        case Product(factors):
            return sum(degree(f) for f in factors)
        case IntegerPower(base, exponent):
            return exponent * degree(base)
        case Hermite(order, argument):
            return order * max(1, degree(argument))
    return 0
