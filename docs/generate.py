"""Writes docs/cli.md and docs/claims.md from the code; ``--check`` only says whether they are up to date.

The verdicts at full size are those of src/giantstep/claims/verdicts.json; ``--verdicts report/verdicts.json 'one H200'`` takes
them from a report of ``giantstep check --size full``. The picture docs/assets/curve.svg is drawn by ``make picture``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import typer

from giantstep.citations import paper
from giantstep.claims import TEXTS
from giantstep.cli import app

HERE = Path(__file__).parent
VERDICTS = HERE.parent / "src/giantstep/claims/verdicts.json"
KEPT = ("claim", "outcome", "sentence", "power", "trend", "sizes", "seeds", "seconds")
NOTE = "<!-- Written by docs/generate.py; do not edit. -->\n\n"


def cli_page() -> str:
    """The help of the program and of every command."""
    group = typer.main.get_command(app)
    return f"# Command line\n\n{NOTE}{_help(group, 'giantstep')}{_commands(group, '')}"


def _commands(group: Any, before: str) -> str:
    """The help of a group's commands, and of theirs."""
    parts = []
    for name, command in getattr(group, "commands", {}).items():
        full = f"{before}{name}"
        parts.append(f"\n## {full}\n\n{_help(command, f'giantstep {full}')}{_commands(command, f'{full} ')}")
    return "".join(parts)


def _help(command: Any, name: str) -> str:
    # A fixed width: the page must not depend on the terminal of whoever runs this.
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    return f"```text\n{command.get_help(context).rstrip()}\n```\n"


def claims_page() -> str:
    """What is claimed, how it is tested, and what came out at full size."""
    rows = "".join(
        f"| `{claim.name}` | {_cell(claim.statement)} | {_cell(paper(claim.paper).short)}, {_cell(claim.where)} | "
        f"{_cell(claim.test)} |\n"
        for claim in TEXTS
    )
    table = f"| claim | what the paper says | where | test |\n|---|---|---|---|\n{rows}"
    return (
        f"# Claims\n\n{NOTE}Statements of the literature that `giantstep check` tests. A verdict is *holds*,\n"
        f"*fails*, or *inconclusive* when the sizes that ran cannot tell. A claim whose data are not on the machine,\n"
        f"or that an error stops, is *not run*, and that says nothing about the statement.\n\n{table}{_full()}"
    )


def _full() -> str:
    """The verdicts at full size."""
    if not VERDICTS.exists():
        return ""
    found = json.loads(VERDICTS.read_text(encoding="utf-8"))
    made, results = found["provenance"], {each["claim"]: each for each in found["results"]}
    rows = "".join(
        f"| `{each['claim']}` | {each['outcome']} | {_cell(each['sentence'])} | {_cell(each['power'])} | "
        f"{_cell(each['trend'])} | {_cell(each['sizes'])}; seeds {_cell(each['seeds'])} | {each['seconds']:.0f} |\n"
        for each in (results[claim.name] for claim in TEXTS if claim.name in results)
    )
    kinds = ("holds", "fails", "inconclusive")  # one that was not run is not taken
    counts = [sum(each["outcome"] == kind for each in results.values()) for kind in kinds]
    return (
        f"\n## At full size\n\n`giantstep check --size full`, {found['date'][:10]}, giantstep {made['version']}, "
        f"JAX {made['jax']}, {found['device']}: {counts[0]} hold, {counts[1]} fail, {counts[2]} inconclusive.\n\n"
        "| claim | verdict | what was seen | size and power of the test | trend | sizes and seeds | seconds |\n"
        f"|---|---|---|---|---|---|---:|\n{rows}"
    )


def take_verdicts(path: Path, device: str) -> None:
    """Keep the verdicts of a report, without their tables, in the place of older ones of the same claims.

    A claim that was not run has no verdict to keep.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    results = [{key: each[key] for key in KEPT} for each in found["results"] if each["outcome"] != "not run"]
    here = {each["claim"] for each in results}
    before = json.loads(VERDICTS.read_text(encoding="utf-8"))["results"] if VERDICTS.exists() else []
    results = [each for each in before if each["claim"] not in here] + results
    kept = {"date": found["date"], "provenance": found["provenance"], "device": device, "results": results}
    VERDICTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Write the pages, or with ``--check`` report those that differ."""
    if "--verdicts" in sys.argv[1:]:
        take_verdicts(Path(sys.argv[sys.argv.index("--verdicts") + 1]), sys.argv[sys.argv.index("--verdicts") + 2])
    pages = {HERE / "cli.md": cli_page(), HERE / "claims.md": claims_page()}
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
