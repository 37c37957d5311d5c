"""The table of docs/gpu.md, made from the JSON lines of a run."""

from pathlib import Path
from typing import Any

from giantstep.lab.store._atomic import atomic

BEGIN = "<!-- Written by `python -m benchmarks.gpu --write PAGE`; do not edit from here. -->"
END = "<!-- To here. -->"


def merged(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of several runs as one: a row that was measured later, or at last, takes the place of the earlier one."""
    rows: dict[str, dict[str, Any]] = {}
    for line in lines:
        name = line.get("row", "device")
        if name not in rows or not failed(line):
            rows[name] = line
    return list(rows.values())


def failed(row: dict[str, Any]) -> bool:
    """Whether a row has no numbers but the reason why."""
    return set(row) <= {"row", "errors"}


def table(found: list[dict[str, Any]]) -> str:
    """The rows as Markdown; a row that did not run is left out."""
    lines = [
        "| job | giantstep | script | ratio | goal | share of the product rate | peak / needed | first compilation |",
        "|---" * 8 + "|",
    ]
    lines += ["| " + " | ".join(cells) + " |" for cells in map(_cells, found) if cells]
    device = next((row["device"] for row in found if "device" in row), "unknown device")
    words = [f"Measured on {_device(device)}.", *_sentences(found)]
    return "\n".join([" ".join(words), "", *lines, *_routes(found), "", _missed(found)])


def _routes(found: list[dict[str, Any]]) -> list[str]:
    """A table of its own for the routes that are no whole program."""
    measured = next((row for row in found if row.get("row") == "routes" and not failed(row)), None)
    if measured is None:
        return []
    lines = [
        f"| {name} | {_seconds(r['seconds'])} | {_host(r['host seconds'])} | {_compilation(r)} |"
        for name, r in measured["routes"].items()
    ]
    return [
        "",
        f"| other routes | device | {measured['host cores']} cores | first compilation |",
        "|---" * 4 + "|",
        *lines,
    ]


def _host(value: float | None) -> str:
    return "" if value is None else _seconds(value)


def _cells(row: dict[str, Any]) -> list[str]:
    if "ratio" in row:
        several = f", {row['seeds']} seeds x {row['etas']} step sizes x {row['penalties']} penalties" * (
            row["etas"] > 1
        )
        kind = row["dtype"] if row["precision"] == "full" else row["precision"]
        cells = [
            f"`{row['row']}`: d = {row['d']}, n = {row['n']}, p = {row['p']}{several}, {kind}",
            _seconds(row["seconds"]),
        ]
        cells += [_seconds(row["script"]), f"{row['ratio']:.2f}", f"{row['goal']:.2f}"]
        one = kind == row["dtype"] and not several  # a product of this kind is what bounds the row
        cells += [f"{row['share of the product rate']:.0%}" * one, _number(row.get("peak / needed"))]
    elif row.get("row") == "figure" and not failed(row):
        cells = [
            "`figure`: the published figure of the single step",
            _seconds(row["seconds"]),
            f"floor {_seconds(row['floor'])}",
        ]
        cells += [f"{row['seconds / floor']:.1f}", f"{row['goal']:.0f} s", "", ""]
    elif row.get("row") == "trials" and not failed(row):
        host = f"{row['host cores']} cores: {_seconds(row['host seconds'])}"
        cells = [f"`trials`: {row['trials']} trials of d = 200", _seconds(row["seconds"]), host]
        cells += [f"1/{row['host / device']:.0f}", f"1/{row['goal']:.0f}", "", ""]
    else:
        return []
    return [*cells, _compilation(row)]


def _compilation(row: dict[str, Any]) -> str:
    """The time of a first compilation; the program of a shape is what has a goal, and some rows have several."""
    programs, seconds = row.get("programs", 1), max(row["compile"], 0.0)
    return f"{seconds:.1f} s" if programs == 1 else f"{programs} x {seconds / programs:.1f} s"


def _device(words: str) -> str:
    """ "NVIDIA H200 gpu 0.11.2" in words."""
    kind, platform, version = words.rsplit(" ", 2) if words.count(" ") >= 2 else (words, "", "unknown")
    return f"one {kind} ({platform}) with JAX {version}"


def _sentences(found: list[dict[str, Any]]) -> list[str]:
    """What the table has no column for."""
    words = []
    for row in found:
        if row.get("row") == "from the cache" and row.get("compile") is not None:
            words.append(f"The first run of a shape that is in the cache of compilations takes {row['compile']:.1f} s.")
        if row.get("row") == "agreement" and not failed(row):
            gap = max(row["random=host"], row["random=device"])
            words.append(f"The same numbers on the CPU differ by {gap:.0e} of their size at most.")
    return words


COMPILE, MEMORY, RATE = (
    10.0,
    1.3,
    0.7,
)  # goals: seconds of a first compilation, peak / needed, share at the largest size


def _missed(found: list[dict[str, Any]]) -> str:
    """One sentence about the goals that were missed."""
    words = []
    for row in found:
        name = row.get("row")
        if row.get("ratio", 0.0) > row.get("goal", 0.0):
            words.append(f"the ratio of `{name}` is {row['ratio']:.2f} (goal {row['goal']:.2f})")
        if name == "large" and row.get("share of the product rate", 1.0) < RATE:
            words.append(
                f"`{name}` reaches {row['share of the product rate']:.0%} of the product rate (goal {RATE:.0%})"
            )
        if name == "figure" and row.get("seconds", 0.0) > row.get("goal", 1.0):
            words.append(f"the figure takes {_seconds(row['seconds'])} (goal {row['goal']:.0f} s)")
        if name == "trials" and row.get("host / device", 20.0) < row.get("goal", 20.0):
            ratio = f"{row['host / device']:.0f} times faster than {row['host cores']} cores"
            words.append(f"the trials are {ratio} (goal {row['goal']:.0f})")
        if row.get("peak / needed", 0.0) > MEMORY:
            words.append(
                f"the peak of memory of `{name}` is {row['peak / needed']:.2f} of what is needed (goal {MEMORY})"
            )
    slow = [
        f"`{row['row']}` {_compilation(row)}"
        for row in [*found, *({"row": name, **each} for row in found for name, each in row.get("routes", {}).items())]
        if row.get("compile", 0.0) > COMPILE * row.get("programs", 1)
    ]
    if slow:
        words.append(f"first compilations take longer than {COMPILE:.0f} s ({', '.join(slow)})")
    return f"Missed goals: {'; '.join(words)}." if words else "No goal is missed."


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
