"""Writes docs/cli.md and docs/claims.md from the code; ``--check`` only says whether they are up to date.

The picture docs/assets/curve.svg is drawn by ``make picture``.
"""

import sys
from pathlib import Path

import typer

from giantstep.claims import CLAIMS
from giantstep.cli import app
from giantstep.papers import paper

HERE = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py; do not edit. -->\n\n"


def cli_page() -> str:
    """The help of the program and of every command."""
    group = typer.main.get_command(app)
    return f"# Command line\n\n{NOTE}{_help(group, 'giantstep')}{_commands(group, '')}"


def _commands(group: object, before: str) -> str:
    """The help of a group's commands, and of theirs."""
    parts = []
    for name, command in getattr(group, "commands", {}).items():
        full = f"{before}{name}"
        parts.append(f"\n## {full}\n\n{_help(command, f'giantstep {full}')}{_commands(command, f'{full} ')}")
    return "".join(parts)


def _help(command: object, name: str) -> str:
    # A fixed width: the page must not depend on the terminal of whoever runs this.
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    return f"```text\n{command.get_help(context).rstrip()}\n```\n"


def claims_page() -> str:
    """The table of claims."""
    rows = "".join(
        f"| `{claim.name}` | {_cell(claim.statement)} | {_cell(paper(claim.paper).short)}, {_cell(claim.where)} |\n"
        for claim in CLAIMS
    )
    table = f"| claim | what the paper says | where |\n|---|---|---|\n{rows}" if rows else "No claims yet.\n"
    return (
        f"# Claims\n\n{NOTE}Statements of the literature that `giantstep check` tests. A verdict is *holds*,\n"
        f"*fails*, or *inconclusive* when the sizes that ran cannot tell.\n\n{table}"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Write the pages, or with ``--check`` report those that differ."""
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
