"""The findings: ``page`` makes docs/findings.md from findings.toml and the verdicts, and running this file draws their figures.

The figures go to docs/assets/findings/, which git does not hold; ``make docs`` draws them from the measurements of the tests,
which are at quick size.
"""

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FINDINGS = HERE / "findings.toml"
PICTURES = HERE / "assets/findings"
MEASURED = HERE.parent / "tests/measured"


def read() -> list[dict[str, Any]]:
    return tomllib.loads(FINDINGS.read_text(encoding="utf-8"))["findings"]


def page(note: str, verdicts: dict[str, Any]) -> str:
    """What the claims showed that the papers do not say: the text, a figure, the verdicts with their numbers, the commands."""
    results = {each["claim"]: each for each in verdicts["results"]}
    seed = f" --size {verdicts['size']} --first-seed {verdicts['first_seed']}"
    parts = [
        f"# What this laboratory found\n\n{note}The claims of the literature were checked as their papers word them. This page "
        "collects what that showed and the papers do not say. Every number is from the verdicts on one set of seeds; the command "
        "under each finding runs it again, on these seeds or on any others. [How a verdict is made](verdicts.md) says how "
        "sure they are. The figures show other seeds, at quick size.\n"
    ]
    for number, each in enumerate(read(), 1):
        parts.append(f"\n## {number}. {_cell(each['title'])}\n\n{_cell(each['text'])}\n")
        parts.append(f"\n![{_cell(each['title'])}](assets/findings/{each['figure'].replace('/', '-')}.svg)\n")
        parts += [_verdict(name, results.get(name)) for name in each["claims"]]
        commands = "\n".join(f"giantstep check {name}{seed}" for name in each["claims"])
        parts.append(f"\n```bash\n{commands}\n```\n")
        if sure := "".join(_sure(name, results.get(name)) for name in each["claims"]):
            parts.append(f"\n<details markdown>\n<summary>How sure this is</summary>\n{sure}\n</details>\n")
    return "".join(parts)


def _verdict(name: str, verdict: dict[str, Any] | None) -> str:
    if verdict is None:
        return f"\n**{name}** needs full size.\n"
    corrected = verdict.get("corrected")
    outcome = f"{verdict['as_stated']} as stated, {corrected} as corrected" if corrected else verdict["as_stated"]
    return f"\n**{name} {outcome}.** {_cell(verdict['sentence'])}\n"


def _sure(name: str, verdict: dict[str, Any] | None) -> str:
    return "" if verdict is None else f"\n{name} ({_cell(verdict['sizes'])}): {_cell(verdict['power'])}\n"


def _cell(text: str) -> str:
    from giantstep.checks.report.markdown import cell

    return cell(text)


def draw(name: str) -> str:
    """The figure of a claim on the measurements that the tests keep, as SVG."""
    from giantstep.claims import select

    sys.path.insert(0, str(HERE.parent))
    from tests.kept import load

    (claim,) = select([name])
    return claim.rule("quick", *load(claim)).figure


def main() -> int:
    """Draw the figures that are older than their measurements."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in dict.fromkeys(each["figure"] for each in read()):
        stem = name.replace("/", "-")
        drawn, measured = PICTURES / f"{stem}.svg", MEASURED / f"{stem}.json"
        if not drawn.exists() or drawn.stat().st_mtime < measured.stat().st_mtime:
            drawn.write_text(draw(name), encoding="utf-8")
            print(name, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
