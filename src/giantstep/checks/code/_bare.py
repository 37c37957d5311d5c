"""The code of a source without what changes no number.

That is docstrings, comments, blank lines, what only type checkers see, and the words of a claim.
Places come from the syntax tree, and what stays is the text itself. So the answer is the same in
every version of Python.
"""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import TypeGuard

# The keywords of ``CLAIM = Claim(...)``, at any depth, that people read and that change no verdict.
WORDS = ("order", "quote", "place", "statement", "correction", "where", "how", "because")
LITERAL = "CLAIM"  # the name of the literal

# Statements with none inside.
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.Import, ast.ImportFrom)
Span = tuple[int, int]


def nested(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """All statements, also those inside others; what only type checkers see is left out."""
    found, todo = [], list(body)
    while todo:
        statement = todo.pop()
        found.append(statement)
        if isinstance(statement, _SIMPLE):
            continue
        if for_types(statement):
            todo += statement.orelse
            continue
        inside = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        for part in (statement, *inside):
            for name in ("body", "orelse", "finalbody"):
                todo += getattr(part, name, ())
    return found


def for_types(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Whether this is ``if TYPE_CHECKING:``."""
    if not isinstance(statement, ast.If):
        return False
    test = statement.test
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")) == "TYPE_CHECKING"


def codes(source: str, body: Sequence[ast.stmt], every: Sequence[ast.stmt]) -> list[bytes]:
    """The code of each statement of a module, from its source and its syntax tree.

    ``every`` has the nested statements too.
    """
    text = _Text(source)
    docstrings = sorted(text.span(each) for each in every if _is_text(each))
    literals = text.literals(every, docstrings)
    words = sorted(text.words(each) for statement in body for each in _words(statement))
    cuts = text.comments(sorted(docstrings + literals)) + docstrings + words
    cuts += [text.span(each) for each in every if for_types(each) and not each.orelse]
    cuts.sort()
    # The blank lines of a string count.
    lasting = [span for span in literals if b"\n" in text.data[slice(*span)] and not _inside(span[0], words)]
    found = []
    for start, end in map(text.span, body):
        long = b"".join(text.data[a:b] for a, b in lasting if start <= a < end)
        found.append(text.without((start, end), cuts) + long)
    return found


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _words(statement: ast.stmt) -> list[ast.keyword]:
    """The words of the literal."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if not any(isinstance(each, ast.Name) and each.id == LITERAL for each in targets):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, ast.keyword) and each.arg in WORDS]


class _Text:
    """A source as bytes, in which the syntax tree counts its columns."""

    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self.starts = [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]

    def span(self, node: ast.stmt | ast.expr) -> Span:
        """Where a node begins and ends; a definition begins with its decorators."""
        decorators = getattr(node, "decorator_list", ())
        start = self.starts[node.lineno - 1] + node.col_offset
        if decorators:
            start = self.starts[decorators[0].lineno - 1]
        assert node.end_lineno is not None and node.end_col_offset is not None
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def words(self, node: ast.keyword) -> Span:
        """All of a keyword but its name, so that it still counts whether it is there."""
        assert node.arg is not None and node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset + len(node.arg.encode())
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def literals(self, every: Sequence[ast.stmt], docstrings: list[Span]) -> list[Span]:
        """The strings that may hold a ``#`` or a line break; the others need no second look."""
        wanted = sorted({line for line, place in self._unsure() if not _inside(place, docstrings)})
        found = []
        for statement in every if wanted else ():
            if _is_text(statement) or not _between(wanted, statement.lineno, statement.end_lineno or 0):
                continue
            todo: list[ast.AST] = [statement]
            while todo:
                for each in ast.iter_child_nodes(todo.pop()):
                    if isinstance(each, ast.JoinedStr) or (
                        isinstance(each, ast.Constant) and isinstance(each.value, str | bytes)
                    ):
                        found.append(self.span(each))
                    elif not isinstance(each, ast.stmt):
                        todo.append(each)
        return found

    def _unsure(self) -> Iterator[tuple[int, int]]:
        """Lines, and places on them, with a ``#`` behind a quote, or on which a string of several lines may begin."""
        for mark in (b"#", b'"""', b"'''", b"\\\n"):
            place = self.data.find(mark)
            while place >= 0:
                line = bisect_right(self.starts, place)
                before = self.data[self.starts[line - 1] : place]
                if mark != b"#" or b'"' in before or b"'" in before:
                    yield line, place
                place = self.data.find(mark, place + 1)

    def comments(self, strings: list[Span]) -> list[Span]:
        """From every ``#`` outside of strings to the end of its line."""
        found = []
        place = self.data.find(b"#")
        while place >= 0:
            end = self.data.find(b"\n", place)
            end = len(self.data) if end < 0 else end
            if _inside(place, strings):
                end = place
            else:
                found.append((place, end))
            place = self.data.find(b"#", end + 1)
        return found

    def without(self, span: Span, cuts: list[Span]) -> bytes:
        """The lines of a span that are not blank, without the cuts."""
        place, end = span
        parts = []
        for start, stop in cuts[bisect_left(cuts, (place, place)) :]:
            if start >= end:
                break
            if stop > place:
                parts.append(self.data[place : max(start, place)])
                place = stop
        parts.append(self.data[place:end])
        lines = b"".join(parts).splitlines()
        return b"".join(line.rstrip() + b"\n" for line in lines if line.strip())


def _inside(place: int, spans: list[Span]) -> bool:
    """Whether a place lies in one of several sorted spans, which do not overlap."""
    at = bisect_right(spans, place, key=itemgetter(0)) - 1
    return at >= 0 and place < spans[at][1]


def _between(lines: list[int], first: int, last: int) -> bool:
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= last
