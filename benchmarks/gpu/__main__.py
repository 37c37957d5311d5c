"""python -m benchmarks.gpu [--small] [--json FILE] [--write PAGE]: giantstep beside a plain script on an accelerator.

Every row runs in a process of its own, which is stopped when the time for all of them is over. The first row runs twice with one
cache of compilations: the second time shows what the cache saves. Lines of JSON go to standard output (and to FILE); --write puts
their table into a page.
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
LIMIT = 285.0  # seconds for everything
OTHERS = ("agreement", "figure", "trials", "parts")


def row(name: str, small: bool) -> dict[str, Any]:
    """Measure one row, in this process."""
    from benchmarks.gpu import job, more

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
    parser.add_argument("--write", type=Path, help="put the table into this page")
    given = parser.parse_args()
    if given.row:
        print(json.dumps(row(given.row, given.small)))
        return
    start, found = time.perf_counter(), []
    names = [
        "device",
        "small",
        "small",
        "grid",
        *([] if given.small else ["middle", "large", "float32", "tf32"]),
        *OTHERS,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for place, name in enumerate(names):
            if given.only and name not in given.only:
                continue
            left = LIMIT - (time.perf_counter() - start)
            line = device() if name == "device" else child(name, given.small, folder, left)
            if name == "small" and place == 2:
                line = {"row": "from the cache", "compile": line.get("compile"), "first": line.get("first")}
            found.append(line)
            print(json.dumps(line), flush=True)
    if given.json:
        given.json.write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")
    if given.write:
        from benchmarks.gpu.page import write

        write(given.write, found)


def device() -> dict[str, Any]:
    """The device, asked in another process: this one must not hold it."""
    ask = "from giantstep._machine.backend import jax; d = jax.devices()[0]; print(d.device_kind, d.platform, jax.__version__)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    return {"device": done.stdout.strip(), "host cores": os.cpu_count()}


if __name__ == "__main__":
    main()
