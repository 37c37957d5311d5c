"""python -m benchmarks.gpu [--small] [--json FILE] [--write PAGE] [--lines FILE ...]: giantstep beside a plain script.

Every row runs in a process of its own, which is stopped when the time for all of them is over. The first row runs twice with one
cache of compilations: the second time shows what the cache saves. Lines of JSON go to standard output (and to FILE); --write puts
their table into a page, together with those of earlier runs (--lines).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several processes share the memory of the device
LIMIT = 480.0  # seconds for everything: the script alone compiles for 140 s
OTHERS = ("agreement", "figure", "trials", "parts", "routes")


def row(name: str, small: bool) -> dict[str, Any]:
    """Measure one row, in this process."""
    from benchmarks.gpu import job, more, routes

    if name == "from the cache":
        return job.again(job.tasks(small)["small"])
    if name == "routes":
        return routes.routes(small)
    if name in OTHERS:
        return getattr(more, name)(small)
    return job.measured(job.tasks(small)[name])


def child(name: str, small: bool, folder: str, left: float) -> dict[str, Any]:
    """Measure one row in another process."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--row", name, *(["--small"] if small else [])]
    env = {**os.environ, "JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.02"}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=max(left, 1.0))
    except subprocess.TimeoutExpired:
        return {"row": name, "errors": "the time was over"}
    if done.returncode:
        return {"row": name, "errors": done.stderr[-2000:]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--small", action="store_true", help="tiny sizes, for a machine without an accelerator")
    parser.add_argument("--row", help="one row, in this process")
    parser.add_argument("--only", nargs="*", help="these rows")
    parser.add_argument("--json", type=Path, help="write the lines to this file too")
    parser.add_argument(
        "--lines", type=Path, nargs="*", default=[], help="lines of earlier runs; nothing runs unless --only"
    )
    parser.add_argument("--write", type=Path, help="put the table into this page")
    given = parser.parse_args()
    if given.row:
        print(json.dumps(row(given.row, given.small)))
        return
    earlier = [json.loads(line) for path in given.lines for line in path.read_text(encoding="utf-8").splitlines()]
    found = [] if earlier and given.only is None else measure(given.only, given.small)
    if given.json:
        given.json.write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")
    if given.write:
        from benchmarks.gpu.page import merged, write

        write(given.write, merged(earlier + found))


def measure(only: list[str] | None, small: bool) -> list[dict[str, Any]]:
    """Run the rows, those first whose script compiles quickly."""
    start, found = time.perf_counter(), []
    sizes = ["small", "from the cache", "grid", *([] if small else ["middle", "float32", "tf32"])]
    names = ["device", *sizes, *OTHERS, *([] if small else ["large"])]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if only and name not in only:
                continue
            left = LIMIT - (time.perf_counter() - start)
            line = device() if name == "device" else child(name, small, folder, left)
            found.append(line)
            print(json.dumps(line), flush=True)
    return found


def device() -> dict[str, Any]:
    """The device, asked in another process: this one must not hold it."""
    ask = "from giantstep._machine.backend import jax; d = jax.devices()[0]; print(d.device_kind, d.platform, jax.__version__)"
    done = subprocess.run([sys.executable, "-P", "-c", ask], capture_output=True, text=True)
    return {"device": done.stdout.strip(), "host cores": os.cpu_count()}


if __name__ == "__main__":
    main()
