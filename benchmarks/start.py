"""python -m benchmarks.start: CPU time of `giantstep --help` and of `giantstep cite` over that of a bare Python."""

import resource
import subprocess
import sys

REPEATS = 7
BARE = ["-c", "pass"]
COMMANDS = {each: ["-P", "-m", "giantstep.cli", *each.split()] for each in ("--help", "--version", "cite")}


def spent(arguments: list[str]) -> float:
    """Least CPU seconds of a process, of a few, after one that warms the disk: what it takes on an idle machine."""
    seconds = []
    for _ in range(REPEATS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds[1:])


def main() -> None:
    bare = spent(BARE)
    for name, arguments in COMMANDS.items():
        seconds = spent(arguments)
        goal = "   (goal: under 0.5 s)" if name == "--help" else ""
        print(f"giantstep {name:10s} {seconds / bare:5.1f} times a bare Python, {seconds:.2f} s of CPU{goal}")


if __name__ == "__main__":
    main()
