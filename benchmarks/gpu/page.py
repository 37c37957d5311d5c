"""The table of docs/gpu.md, made from the JSON lines of a run."""

from pathlib import Path
from typing import Any

from giantstep.lab.store.atomic import atomic

BEGIN = "<!-- Written by `python -m benchmarks.gpu --write PAGE`; do not edit from here. -->"
END = "<!-- To here. -->"


def table(found: list[dict[str, Any]]) -> str:
    """The rows as Markdown; a row that did not run is left out."""
    lines = [
        "| job | giantstep | script | ratio | goal | share of the product rate | peak / needed |",
        "|---" * 7 + "|",
    ]
    for row in found:
        if "ratio" in row:
            several = f", {row['seeds']} seeds x {row['etas']} step sizes x {row['penalties']} penalties" * (
                row["etas"] > 1
            )
            kind = row["dtype"] if row["precision"] == "full" else row["precision"]
            cells = [f"d = {row['d']}, n = {row['n']}, p = {row['p']}{several}, {kind}", _seconds(row["seconds"])]
            cells += [_seconds(row["script"]), f"{row['ratio']:.2f}", f"{row['goal']:.2f}"]
            cells += [f"{row['share of the product rate']:.0%}", _number(row.get("peak / needed"))]
        elif row.get("row") == "figure" and "seconds" in row:
            cells = ["published figure of the single step", _seconds(row["seconds"]), f"floor {_seconds(row['floor'])}"]
            cells += [f"{row['seconds / floor']:.1f}", f"{row['goal']:.0f} s", "", ""]
        elif row.get("row") == "trials" and "seconds" in row:
            host = f"{row['host cores']} cores: {_seconds(row['host seconds'])}"
            cells = [f"{row['trials']} trials of d = 200", _seconds(row["seconds"]), host]
            cells += [f"1/{row['host / device']:.0f}", f"1/{row['goal']:.0f}", "", ""]
        else:
            continue
        lines.append("| " + " | ".join(cells) + " |")
    device = next((row["device"] for row in found if "device" in row), "unknown device")
    return "\n".join([f"Measured on {device}.", "", *lines])


def _seconds(value: float) -> str:
    return f"{value:.3g} s"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def write(page: Path, found: list[dict[str, Any]]) -> None:
    """Put the table between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    with atomic(page) as file:
        file.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")
