"""Runs a page of the documentation as a reader would: its Python, its commands, and what it says they print.

    python tests/readme.py README.md [--only 'giantstep explore']

Everything runs in the current folder with the giantstep that is installed. The standard library is all that is needed here.
"""

import argparse
import contextlib
import io
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

LIMIT = 300  # seconds that a command may take
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Fenced blocks of a language: how many lines stand above each, and its text."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: each.start(2)].count("\n"), each[2]) for each in found if each[1] == language]


def shows(printed: str, text: str) -> bool:
    """Whether the lines of the text were printed, one after the other."""
    shown, lines = text.strip().splitlines(), printed.splitlines()
    return any(all(map(same, lines[start : start + len(shown)], shown)) for start in range(len(lines) - len(shown) + 1))


def same(line: str, other: str) -> bool:
    """Whether two lines agree but for seconds and for one unit in the last digit that both show of a number."""
    line, other = (re.sub(r"\(\d+\.\d s\)", "", each) for each in (line, other))
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    numbers = zip(map(Decimal, NUMBER.findall(line)), map(Decimal, NUMBER.findall(other)), strict=True)
    return all(abs(a - b) <= Decimal(1).scaleb(max(last(a), last(b))) for a, b in numbers)


def last(number: Decimal) -> int:
    """The power of ten of the last digit shown; whole numbers are counts and have none to spare."""
    exponent = int(number.as_tuple().exponent)
    return exponent if exponent < 0 else -99


def commands(page: Path) -> Iterator[tuple[int, str]]:
    """The commands of the blocks without a language that call giantstep, each with its line; a here-document is one command."""
    for above, text in blocks(page, ""):
        if not re.search(r"^giantstep ", text, re.MULTILINE):
            continue
        for each in re.finditer(r"^.*<<'(\w+)'\n(?:.*\n)*?\1$|^\S.*$", text, re.MULTILINE):
            yield above + text[: each.start()].count("\n") + 1, each[0]


def run_python(page: Path) -> list[str]:
    """Run the Python blocks in one namespace; return a sentence for every text block that was not printed."""
    printed, shared = io.StringIO(), {"__name__": "readme"}
    with contextlib.redirect_stdout(printed):
        for above, code in blocks(page, "python"):
            exec(compile("\n" * above + code, page, "exec"), shared)  # a traceback names the line of the page
    return [
        f"{page.name}, line {above + 1}: this was not printed:\n{text}\nWhat was printed:\n{printed.getvalue()}"
        for above, text in blocks(page, "text")
        if not shows(printed.getvalue(), text)
    ]


def run_command(line: str) -> str:
    """Run a command and return what was wrong, or nothing."""
    if line.startswith("giantstep explore") and find_spec("dash"):
        return explore(line)
    try:
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"it took longer than {LIMIT} seconds"
    if line.startswith("giantstep explore"):  # without its extra it says what is missing
        told = done.returncode == 2 and "pip install 'giantstep[explore]'" in done.stderr
        return "" if told else f"without its extra it should name the extra: {done.stderr}"
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode else ""


def explore(line: str) -> str:
    """Start the explorer on a free port, ask for its page, and stop it; return what was wrong, or nothing."""
    started = [*line.split(), "--port", "0", "--no-browser"]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        late = threading.Timer(LIMIT, server.kill)
        late.start()
        try:
            said = server.stdout.readline() if server.stdout else ""
            address = re.search(r"http://\S+", said)
            if address is None:
                return f"it named no address: {said}"
            with urlopen(address[0], timeout=60) as page:
                return "" if page.status == 200 else f"its page answered {page.status}"
        except OSError as problem:
            return f"its page did not answer: {problem}"
        finally:
            late.cancel()
            server.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--only", metavar="COMMAND", help="run this command of the page and nothing else")
    wanted = parser.parse_args()
    page = wanted.page.resolve()
    wrong = [] if wanted.only else run_python(page)
    listed = [each for each in commands(page) if wanted.only in (None, each[1])]
    if not listed:
        wrong.append(f"{page.name} has no command {wanted.only or 'of giantstep'}")
    for number, line in listed:
        start = time.perf_counter()
        problem = run_command(line)
        print(f"{time.perf_counter() - start:6.1f} s  {line.splitlines()[0]}", flush=True)
        if problem:
            wrong.append(f"{page.name}, line {number}: {line}\n{problem}")
    print("\n\n".join(wrong) or f"{page.name} works as written.", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
