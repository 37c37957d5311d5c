"""Blocks of docs/accuracy.md, each written by the benchmark after which it is named; the rest of the page leaves them alone."""

import re
from pathlib import Path

PAGE = Path("docs/accuracy.md")
ALL = re.compile(r"<!-- (\w+): written by .*?<!-- end of \1 -->\n", re.DOTALL)


def marked(name: str, text: str) -> str:
    """The block of that name between its marks."""
    start = f"<!-- {name}: written by `python -m benchmarks.{name}`; do not edit -->"
    return f"{start}\n\n{text.strip()}\n\n<!-- end of {name} -->\n"


def blocks(page: Path = PAGE) -> list[str]:
    """All blocks of the page, with their marks."""
    return [found.group() for found in ALL.finditer(page.read_text(encoding="utf-8"))] if page.exists() else []


def put(name: str, text: str, page: Path = PAGE) -> None:
    """Write the block of that name in the place of the old one, or before the list of cells outside."""
    whole, new = page.read_text(encoding="utf-8"), marked(name, text)
    old = next((found for found in ALL.finditer(whole) if found.group(1) == name), None)
    place = old.span() if old else (whole.index("## Cells outside"),) * 2
    tail = "" if old else "\n"
    page.write_text(whole[: place[0]] + new + tail + whole[place[1] :], encoding="utf-8")
