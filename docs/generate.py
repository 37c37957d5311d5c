"""Writes docs/cli.md, docs/claims.md, docs/findings.md, docs/gallery.md, docs/words.md, and parts of other pages.

``--check`` only says whether they are up to date.

The verdicts are those of src/giantstep_papers/verdicts.json; ``--verdicts report/verdicts.json 'one H200'`` takes
them from a report of ``giantstep check --size full``. The pictures of docs/assets are drawn by ``make picture``.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import figures
import findings
import gallery
import routes
import typer

from giantstep.checks._outcome import OUTCOMES, Outcome
from giantstep.checks._standing import headline
from giantstep.checks.report.markdown import cell
from giantstep.checks.statistics import RATES
from giantstep.citations import paper
from giantstep.citations._quoted import authors, short
from giantstep.claims import TEXTS
from giantstep.cli import app

HERE = Path(__file__).parent
WORDS = HERE.parent / "src/giantstep/explorer/glossary.toml"
VERDICTS = HERE.parent / "src/giantstep_papers/verdicts.json"
LONGEST = 400  # characters of a trend that is not folded
KEPT = (
    *("claim", "outcome", "stated", "limit", "corrected", "marks", "compared", "looseness"),
    *("sentence", "power", "trend", "sizes", "seeds", "seconds"),
)
NOTE = "<!-- Written by docs/generate.py; do not edit. -->\n\n"


def cli_page() -> str:
    """The help of the program and of every command."""
    group = typer.main.get_command(app)
    return f"# Command line\n\n{NOTE}{_help(group, 'giantstep')}{_commands(group, '')}"


def _commands(group: Any, before: str) -> str:
    """The help of a group's commands, and of theirs."""
    parts = []
    for name, command in getattr(group, "commands", {}).items():
        if command.hidden:
            continue
        full = f"{before}{name}"
        parts.append(f"\n## {full}\n\n{_help(command, f'giantstep {full}')}{_commands(command, f'{full} ')}")
    return "".join(parts)


def _help(command: Any, name: str) -> str:
    # A fixed width: the page must not depend on the terminal of whoever runs this.
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    return f"```text\n{command.get_help(context).rstrip()}\n```\n"


COLUMNS: dict[str, tuple[str, ...]] = {
    "holds": ("holds",),
    "in the limit, or as a bound": ("holds in the limit", "a bound, respected"),
    "contradicted": ("contradicted, holds with a correction", "contradicted"),
    "undecided or not run": ("undecided at these sizes", "not run"),
}


def claims_page() -> str:
    """What is claimed, how it is tested, and what came out."""
    results, size = _results(), json.loads(VERDICTS.read_text(encoding="utf-8"))["size"]
    papers = authors(TEXTS)
    parts = [
        f"# Claims\n\n{NOTE}`giantstep check` tests these statements, and [Verdicts](verdicts.md) explains "
        "the rule that decides. Each statement restates its source's own words, which stand above it with their place, "
        "and the verdict is on these words. Statements of our own say so. "
        f"{RATES}\n",
        _full(),
        *(f"\n- **{outcome}** {words.meaning}" for outcome, words in OUTCOMES.items()),
        f"\n\n| paper | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n",
        *(_row(key, results) for key in papers),
    ]
    for key in papers:
        parts.append(f"\n## {cell(paper(key).short)}\n\n*{cell(paper(key).title)}*, {cell(paper(key).venue)}.\n")
        parts += [_claim(claim, results.get(claim.name), size) for claim in TEXTS if (claim.of or claim.paper) == key]
    return "".join(parts)


def _row(key: str, results: dict[str, Any]) -> str:
    """A paper and its claims by their verdicts, as links."""
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    for claim in TEXTS:
        if (claim.of or claim.paper) == key:
            link = f"[{cell(short(claim.name, claim.of))}](#{''.join(c for c in claim.name.lower() if c.isalnum() or c in '-_')})"
            outcome = _outcome(results.get(claim.name))
            columns[next(each for each, outcomes in COLUMNS.items() if outcome in outcomes)].append(link)
    return (
        f"| [{cell(paper(key).short)}](#{_slug(paper(key).short)}) | {' | '.join(map(', '.join, columns.values()))} |\n"
    )


def _outcome(verdict: dict[str, Any] | None) -> Outcome:
    return "not run" if verdict is None else verdict["outcome"]


def _slug(title: str) -> str:
    """The anchor of a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _results() -> dict[str, Any]:
    """The verdicts by the names of their claims."""
    return {each["claim"]: each for each in json.loads(VERDICTS.read_text(encoding="utf-8"))["results"]}


def _claim(claim: Any, verdict: dict[str, Any] | None, size: str) -> str:
    """One claim: the source's words, statement, correction and verdict; the test and its power are folded."""
    outcome = _outcome(verdict)
    lines = [
        f'\n### {claim.name}\n\n<span class="verdict {OUTCOMES[outcome].key}">{outcome}</span>\n',
        f"\n{cell(claim.said)}\n",
        f"\n> {cell(claim.statement)}\n\n({cell(claim.where)})\n",
    ]
    if claim.correction:
        lines.append(f"\n*Correction.* {cell(claim.correction)}\n")
    folded = [f"*Test.* {cell(claim.test)}"]
    if verdict is not None:
        trend = "" if verdict["trend"].rstrip(".") in verdict["sentence"] else verdict["trend"]
        shown = trend if len(trend) <= LONGEST else ""
        lines.append(f"\n**At {size} size.** {cell(verdict['sentence'])} {cell(shown)}\n")
        if trend and not shown:
            folded.append(f"*By size.* {cell(trend)}")
        folded.append(f"*Power.* {cell(verdict['power'])}")
        where = f"{cell(verdict['sizes'])}; seeds {cell(verdict['seeds'])}; {verdict['seconds']:.0f} s"
        folded.append(f"*Sizes.* {where}. `giantstep check {claim.name}` runs it again.")
    inside = "\n\n".join(folded)
    lines.append(f'\n<details markdown="1"><summary>How it is tested</summary>\n\n{inside}\n\n</details>\n')
    if shown := figures.picture(claim.name):
        image = f"![{claim.name}: measured and predicted]({shown}){{ loading=lazy }}"
        lines.append(f'\n<details markdown="1"><summary>Its figure at quick size</summary>\n\n{image}\n\n</details>\n')
    return "".join(lines)


def _full() -> str:
    """How many hold, and on which machine."""
    found = json.loads(VERDICTS.read_text(encoding="utf-8"))
    made, outcomes = found["provenance"], [each["outcome"] for each in found["results"]]
    return (
        f"\nAt {found['size']} size (`giantstep check --size {found['size']} --first-seed {found['first_seed']}`, "
        f"{found['date'][:10]}, "
        f"giantstep {made['version']}, JAX {made['jax']}, {found['device']}): {headline(outcomes)}.\n"
    )


def words_page() -> str:
    """The words of the explorer and of the pages, in alphabetical order."""
    words = sorted(tomllib.loads(WORDS.read_text(encoding="utf-8"))["words"], key=lambda each: each["name"].lower())
    rows = [f"| **{cell(each['name'])}** | {cell(each['meaning'])} | [more]({each['page']}) |\n" for each in words]
    lead = "The words of these pages and of [the explorer](explorer.md), which shows them beside its controls.\n"
    return f"# Words\n\n{NOTE}{lead}\n| word | meaning | |\n|---|---|---|\n{''.join(rows)}"


def counted() -> str:
    """How the statements of the literature fare, and how many of our own hold, in two sentences."""
    found = json.loads(VERDICTS.read_text(encoding="utf-8"))
    ours = {text.name for text in TEXTS if text.of == "giantstep"}
    theirs = [each["outcome"] for each in found["results"] if each["claim"] not in ours]
    own = [each["outcome"] for each in found["results"] if each["claim"] in ours]
    return (
        f"At {found['size']} size, of {len(theirs)} statements of the literature {headline(theirs)}.\n"
        f"Of {len(own)} statements of our own {headline(own)}.\n"
    )


def filled(path: Path, **blocks: str) -> str:
    """A page that people write, with the parts in it that the code knows."""
    page = path.read_text(encoding="utf-8")
    for name, text in blocks.items():
        start, end = f"<!-- {name}: written by docs/generate.py; do not edit -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(start)
        _, _, after = rest.partition(end)
        page = f"{before}{start}\n{text}\n{end}{after}"
    return page


def take_verdicts(path: Path, device: str) -> None:
    """Keep the verdicts of a report, without their tables, in the place of older ones.

    A claim that was not run has no verdict to keep. Verdicts of the same size on the same seeds stay where the report has none.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    results = [{key: each[key] for key in KEPT} for each in found["results"] if each["outcome"] != "not run"]
    first_seed = min(int(each["seeds"].partition("-")[0]) for each in results)
    kept = {
        "date": found["date"],
        "size": found["results"][0]["size"],
        "provenance": found["provenance"],
        "device": device,
        "first_seed": first_seed,
    }
    older = json.loads(VERDICTS.read_text(encoding="utf-8"))
    same = all(older[name] == kept[name] for name in ("size", "first_seed"))
    named = {each["claim"]: each for each in [*(older["results"] if same else ()), *results]}
    kept["results"] = [named[text.name] for text in TEXTS if text.name in named]
    VERDICTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Write the pages, or with ``--check`` report those that differ."""
    if "--verdicts" in sys.argv[1:]:
        take_verdicts(Path(sys.argv[sys.argv.index("--verdicts") + 1]), sys.argv[sys.argv.index("--verdicts") + 2])
    pages = {
        HERE / "cli.md": cli_page(),
        HERE / "claims.md": claims_page(),
        HERE / "findings.md": findings.page(NOTE, json.loads(VERDICTS.read_text(encoding="utf-8"))),
        HERE / "gallery.md": gallery.page(NOTE),
        HERE / "words.md": words_page(),
        HERE / "theory.md": filled(HERE / "theory.md", routes=routes.table(), refusals=routes.refused()),
        HERE.parent / "README.md": filled(HERE.parent / "README.md", verdicts=counted()),
        HERE / "index.md": filled(HERE / "index.md", verdicts=counted()),
    }
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is out of date: run python docs/generate.py", file=sys.stderr)
        return int(bool(stale))
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
