"""The papers behind the claims, the presets and the theory, and their BibTeX. No numerical package is imported here."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["PAPERS", "Paper", "paper"]


@dataclass(frozen=True)
class Paper:
    """One work to cite.

    ``key`` is the word used for it in this library: the preset and the group of claims carry the same one.
    ``authors`` are full names in the order of the paper. ``venue`` is the conference, journal or kind of publication,
    ``pages`` the volume and pages where there are any, ``arxiv`` the identifier without a version.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    kind: str = "inproceedings"
    pages: str = ""
    arxiv: str = ""

    @property
    def short(self) -> str:
        """The paper as running text names it: ``Moniri et al. (2024)``."""
        names = [name.split()[-1] for name in self.authors]
        who = (
            self.authors[0]
            if self.kind == "software"
            else " and ".join(names)
            if len(names) < 3
            else f"{names[0]} et al."
        )
        return f"{who} ({self.year})"

    @property
    def bibtex(self) -> str:
        """One BibTeX entry."""
        where = {"inproceedings": "booktitle", "article": "journal", "software": "note"}[self.kind]
        fields = {
            "title": f"{{{_latex(self.title)}}}",
            "author": " and ".join(_latex(name) for name in self.authors),
            "year": str(self.year),
            where: self.venue,
        }
        if self.kind == "software":
            fields["author"] = f"{{{fields['author']}}}"
        if self.pages:
            volume, _, pages = self.pages.partition(":")
            volume, _, number = volume.partition("(")
            fields |= {"volume": volume, "number": number.rstrip(")"), "pages": pages}
        if self.arxiv:
            fields |= {"eprint": self.arxiv, "archiveprefix": "arXiv"}
        lines = [f"  {name:<13} = {{{value}}}," for name, value in fields.items()]
        kind = "misc" if self.kind == "software" else self.kind
        return "\n".join([f"@{kind}{{{self.key}{self.year},", *lines, "}"])


def _latex(text: str) -> str:
    """Accented letters written as every BibTeX reads them."""
    written = {"á": r"{\'a}", "à": r"{\`a}", "ã": r"{\~a}", "é": r"{\'e}", "ğ": r"{\u{g}}"}
    return "".join(written.get(letter, letter) for letter in text)


def _read() -> tuple[Paper, ...]:
    records = tomllib.loads(files("giantstep.citations").joinpath("papers.toml").read_text(encoding="utf-8"))["papers"]
    return tuple(Paper(**{**record, "authors": tuple(record["authors"])}) for record in records)


PAPERS = _read()


def paper(key: str) -> Paper:
    """The paper with this key; a wrong key is a mistake of the caller, hence ``KeyError``."""
    return {each.key: each for each in PAPERS}[key]
