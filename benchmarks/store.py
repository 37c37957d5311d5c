"""python -m benchmarks.store [--small]: a store of a million rows, opened and filtered; and how fast rows are written.

Two shapes, many seeds a setting and one seed a setting, filled by plain SQL in the real schema. One JSON line each. Before
them, what a sweep of ten thousand trials does beside computing: CPU seconds, and the same over those of writing the numbers to a
bare table.
"""

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import xarray  # noqa: F401  (imported here so that its import is not counted)

import giantstep as gs
from giantstep.lab.store import Store
from giantstep.lab.store import _checksum as checksum
from giantstep.lab.store._setting_paths import flatten
from giantstep.lab.store.stored_row import NUMBERS
from giantstep.lab.store.trial import Route, Trial
from giantstep.lab.sweep._labelled import dataset
from giantstep.lab.sweep.run import missing
from giantstep.lab.sweep.sweep import make
from giantstep.lab.work.block import Block, blocks, split
from giantstep.results.outcome import Outcome, Status

WHERE = ["d=1000", "eta<3"]
SIZES = (100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000)


def setting(d: int, eta: float) -> gs.Setting:  # type: ignore[name-defined]
    protocol = gs.Protocol((gs.GiantStep(2 * d, eta),), gs.Ridge(2 * d, 0.01))
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + H2(x1)/2", noise=0.5), gs.Network(1500, "relu"), protocol)


def timed(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    start = clock()
    found = run()
    return clock() - start, found


def plains(count: int) -> Iterator[dict[str, Any]]:
    """Settings as plain data, ten dimensions and as many step sizes as it takes."""
    base = {d: setting(d, 1.0).to_plain() for d in SIZES}
    for k in range(count):
        plain = base[SIZES[k % len(SIZES)]]
        plain["protocol"]["steps"][0]["eta"] = 10.0 * (k // len(SIZES) + 1) * len(SIZES) / count
        yield plain


def fill(path: Path, settings: int, seeds: int) -> None:
    first = setting(50, 1.0)
    with Store.open(path) as store:
        trial = Trial(first, 0, Route("simulate"))
        store.put([(trial, Outcome(first, "simulate", eta=1.0, test_error=0.5))])
        run = store.connection
        paths = dict(run.execute("SELECT path, key FROM paths"))
        made = checksum.provenances(run)[1]
        columns = ("setting", "seed", "route", *checksum.DOUBLES, "provenance", "checksum")
        insert = f"INSERT INTO trials ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        rng, others = np.random.default_rng(0), len(NUMBERS) - 1
        run.execute("BEGIN")
        run.execute("DROP INDEX leaves_by_value")  # made again at the end, which is faster
        numbered = enumerate(plains(settings), start=2)
        while batch := list(islice(((k, deepcopy(plain)) for k, plain in numbered), 2000)):
            texts = [(k, f"{k:016x}", json.dumps(plain, sort_keys=True, separators=(",", ":"))) for k, plain in batch]
            texts = [(k, name, text, checksum.of_setting(name, text)) for k, name, text in texts]
            run.executemany("INSERT INTO settings VALUES (?, ?, ?, ?)", texts)
            leaves = [(k, paths[path], value) for k, plain in batch for path, value in flatten(plain).items()]
            run.executemany("INSERT INTO leaves VALUES (?, ?, ?)", leaves)
            etas = [plain["protocol"]["steps"][0]["eta"] for _, plain in batch]
            numbers = iter(rng.random((len(batch) * seeds, others)).tolist())
            keys = ((k, seed, eta) for (k, _), eta in zip(batch, etas, strict=True) for seed in range(seeds))
            doubles = ((k, seed, (0.0, 1, eta, *next(numbers), 1.0)) for k, seed, eta in keys)
            rows = (
                (k, seed, 1, *own, 1, checksum.of_row(f"{k:016x}", seed, "simulate", made, (None,) * 3, own))
                for k, seed, own in doubles
            )
            run.executemany(insert, rows)
        run.execute("CREATE INDEX leaves_by_value ON leaves (path, value)")
        run.execute("COMMIT")


def look(path: Path) -> tuple[list[Any], int]:
    """Open, count what matches, and read the first 20 rows of it."""
    with Store.open(path, "read") as store:
        return list(store.select(WHERE, 20)), store.count(WHERE)


def large(folder: Path, settings: int, seeds: int) -> None:
    path = folder / f"{settings}.db"
    filled, _ = timed(lambda: fill(path, settings, seeds))
    first, (rows, count) = timed(lambda: look(path))
    again = min(timed(lambda: look(path))[0] for _ in range(3))
    cpu = min(timed(lambda: look(path), time.process_time)[0] for _ in range(3))  # what it is on an idle machine
    with Store.open(path, "read") as store:
        scan, _ = timed(lambda: store.count(["test_error<0.2"]))
        two, _ = timed(lambda: store.count(["d=1000", "activation=relu", "seed<10"]))
        everything, _ = timed(lambda: store.tally())
        others = [setting(77, 0.1 * k) for k in range(1000)]
        wanted = [Trial(other, seed, Route("simulate")) for other in others for seed in range(100)]
        missing, _ = timed(lambda: store.missing(wanted))
        keys, _ = timed(lambda: {trial.key for trial in wanted})  # what a set in memory would need
    line = {"settings": settings, "seeds": seeds, "gigabytes": path.stat().st_size / 1e9, "fill_s": filled}
    line |= {
        "filter": " ".join(WHERE),
        "matches": count,
        "rows": len(rows),
        "first_s": first,
        "again_s": again,
        "cpu_s": cpu,
    }
    line |= {
        "scan_s": scan,
        "three_s": two,
        "tally_s": everything,
        "missing_100000_s": missing,
        "missing_over_keys": missing / keys,
    }
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}), flush=True)
    path.unlink()


def write(folder: Path, count: int) -> None:
    made = [setting(100, 0.01 * k) for k in range(count)]
    rng = np.random.default_rng(0)
    pairs = []
    for each in made:
        found = Outcome(each, "simulate", eta=1.0, test_error=0.5, overlaps=rng.random((1500, 1)), captured=np.ones(1))
        pairs.append((Trial(each, 0, Route("simulate")), found))
    cpu = time.process_time()
    with Store.open(folder / "write.db") as store:
        seconds, new = timed(lambda: store.put(pairs))
    print(json.dumps({"put": new, "s": round(seconds, 4), "cpu_s": round(time.process_time() - cpu, 4)}), flush=True)


def invented(block: Block, rng: np.random.Generator) -> Outcome:
    """An outcome such as a simulation of the block would have, of random numbers."""
    setting, seeds = block.setting, len(block.seeds)
    names = ("test_error", "test_error_se", "risk", "risk_se", "train_error", "train_objective", "null_level")
    numbers: dict[str, Any] = {name: rng.random(seeds) for name in names}
    arrays = {
        "overlaps": (setting.p, 1),
        "norms": (setting.p,),
        "captured": (1,),
        "captured_se": (1,),
        "learned": (1, 1),
    }
    numbers |= {name: rng.random((seeds, *shape)) for name, shape in arrays.items()}
    status = Status(True, ("the random numbers were drawn on the device (random='device')",))
    penalty = setting.protocol.readout.path if setting.protocol.readout else None
    return Outcome(setting, "simulate", ("seed",), 2.0, penalty, block.seeds, status=status, seconds=1.0, **numbers)


def beside_computing(folder: Path, count: int) -> None:
    """What a sweep does on the host for trials that take no time: plan, split, write, read."""
    protocol = gs.Protocol((gs.GiantStep(400, 2.0),), gs.Ridge(400, 0.01))
    base = gs.Setting(gs.Gaussian(200), gs.target("x1 + H2(x1)/2", noise=0.5), gs.Network(300, "relu"), protocol)
    rng, spent = np.random.default_rng(0), {}

    def part(name: str, run: Callable[[], Any]) -> Any:
        spent[name], found = timed(run, time.process_time)
        return found

    whole = make(base, {}, seeds=range(count), routes=["simulate(n_test=1000, random=device)"])
    todo = list(blocks([base], whole.seeds, whole.routes, lambda setting, route: 625))
    outcomes = [invented(block, rng) for block in todo]
    with Store.open(folder / "sweep.db") as store:
        left = part("missing", lambda: missing(todo, store))
        pairs = part("split", lambda: [split(b, o) for b, o in zip(left, outcomes, strict=True)])
        part("put", lambda: [store.put(some) for some in pairs])
        part("again", lambda: missing(todo, store))
        part("dataset", lambda: dataset(whole, store))
    floor, _ = timed(lambda: bare(folder / "bare.db", outcomes), time.process_time)
    total = sum(spent.values())
    line = {
        "trials": count,
        "cpu_s": total,
        **{f"{name}_s": s for name, s in spent.items()},
        "over_bare": total / floor,
    }
    line |= {"megabytes": (folder / "sweep.db").stat().st_size / 1e6}
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}), flush=True)


def bare(path: Path, outcomes: list[Outcome]) -> None:
    """The same numbers in a table without keys: a row of five numbers and one of bytes for every trial."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE numbers (a, b, c, d, e, data)")
        for each in outcomes:
            columns = zip(
                each.test_error, each.risk, each.train_error, each.null_level, each.eta * each.risk, strict=True
            )
            rows = zip(np.stack(list(zip(*columns, strict=True))).T.tolist(), each.overlaps, strict=True)
            connection.executemany(
                "INSERT INTO numbers VALUES (?, ?, ?, ?, ?, ?)", ((*n, o.tobytes()) for n, o in rows)
            )


def main() -> None:
    scale = 100 if "--small" in sys.argv[1:] else 1
    with tempfile.TemporaryDirectory() as folder:
        beside_computing(Path(folder), 10_000)
        write(Path(folder), 1000)
        large(Path(folder), 20_000 // scale, 50)
        large(Path(folder), 1_000_000 // scale, 1)


if __name__ == "__main__":
    main()
