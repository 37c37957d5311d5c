"""The papers behind the claims, the presets and the theory, and their BibTeX. No numerical package is imported here."""

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from string import ascii_lowercase

__all__ = ["PAPERS", "Paper", "paper"]


@dataclass(frozen=True)
class Paper:
    """One work to cite.

    ``key`` is the word used for it in this library: the preset and the group of claims carry the same one.
    ``authors`` are full names in the order of the paper. ``venue`` is the conference, journal or kind of publication,
    ``pages`` the volume and pages where there are any, ``arxiv`` the identifier without a version. ``letter`` tells papers of the
    same authors and year apart.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    kind: str = "inproceedings"
    pages: str = ""
    arxiv: str = ""
    letter: str = ""

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
        return f"{who} ({self.year}{self.letter})"

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
    papers = [Paper(**{**record, "authors": tuple(record["authors"])}) for record in records]
    alike = {each.short: [one.key for one in papers if one.short == each.short] for each in papers}
    letters = {key: ascii_lowercase[i] for keys in alike.values() if len(keys) > 1 for i, key in enumerate(keys)}
    return tuple(replace(each, letter=letters.get(each.key, "")) for each in papers)


PAPERS = _read()


def paper(key: str) -> Paper:
    """The paper with this key; a wrong key is a mistake of the caller, hence ``KeyError``."""
    return {each.key: each for each in PAPERS}[key]
