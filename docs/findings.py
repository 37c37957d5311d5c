"""The findings: ``page`` makes docs/findings.md from findings.toml and the verdicts. docs/figures.py draws their figures."""

import re
import tomllib
from pathlib import Path
from typing import Any

import figures

HERE = Path(__file__).parent
FINDINGS = HERE / "findings.toml"


def read() -> list[dict[str, Any]]:
    return tomllib.loads(FINDINGS.read_text(encoding="utf-8"))["findings"]


def page(note: str, verdicts: dict[str, Any]) -> str:
    """What the claims showed that the papers do not say: the text, a figure, the verdicts with their numbers, the commands."""
    results = {each["claim"]: each for each in verdicts["results"]}

    def command(name: str) -> str:
        first = results[name]["seeds"].partition("-")[0] if name in results else verdicts["first_seed"]
        return f"giantstep check {name} --size {verdicts['size']} --first-seed {first}"

    parts = [
        f"# What this laboratory found\n\n{note}The claims of the literature were checked as their papers word them. This page "
        "collects what that showed and the papers do not say. Every number is from the verdicts at full size; the command "
        "under each finding runs it again, on these seeds or on any others. [How a verdict is made](verdicts.md) says how "
        "sure they are. The figures show other seeds, at quick size.\n"
    ]
    for number, each in enumerate(read(), 1):
        parts.append(f"\n## {number}. {_cell(each['title'])}\n\n{_text(each['text'])}\n")
        parts.append(f"\n![{_cell(each['title'])}]({figures.picture(each['figure'])})\n")
        parts += [_verdict(name, results.get(name)) for name in each["claims"]]
        commands = "\n".join(map(command, each["claims"]))
        parts.append(f"\n```bash\n{commands}\n```\n")
        if sure := "".join(_sure(name, results.get(name)) for name in each["claims"]):
            parts.append(f"\n<details markdown>\n<summary>How sure this is</summary>\n{sure}\n</details>\n")
    return "".join(parts)


def _verdict(name: str, verdict: dict[str, Any] | None) -> str:
    if verdict is None:
        return f"\n**{name}** has no verdict at full size on these seeds yet.\n"
    corrected = verdict.get("corrected")
    outcome = f"{verdict['as_stated']} as stated, {corrected} as corrected" if corrected else verdict["as_stated"]
    return f"\n**{name} {outcome}.** {_cell(verdict['sentence'])}\n"


def _sure(name: str, verdict: dict[str, Any] | None) -> str:
    return "" if verdict is None else f"\n{name} ({_cell(verdict['sizes'])}): {_cell(verdict['power'])}\n"


def _text(text: str) -> str:
    """A text with code between backticks."""
    parts = re.split(r"\s*(`[^`]*`)", text)
    return " ".join(part if i % 2 else _cell(part) for i, part in enumerate(parts)).strip()


def _cell(text: str) -> str:
    from giantstep.checks.report.markdown import cell

    return cell(text)
