"""The memory that the limits of a job leave: of its control groups, of Slurm, and of ``ulimit -v``.

A control group may be of version 1 or 2, nested in others that have limits of their own, and seen from inside a container. What
the kernel can take back at once, file pages that nobody has touched for a while, does not count as used.
"""

import os
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import psutil

MIB = 2**20
NONE = 2**60  # version 1 says so many bytes, about, for no limit
MOMENT = 0.25  # seconds
# The files of a group's limit and use, and the entry of its statistics that can be taken back, by the kind of file system.
_FILES = {
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
}


def left(proc: Path = Path("/proc/self"), environment: Mapping[str, str] = os.environ) -> float:
    """Bytes that this process may still take under its limits; infinity if it has none."""
    return min((*_groups(proc, moment()), *_slurm(environment), *_address_space()), default=float("inf"))


def moment() -> int:
    """A number for the present moment. Short runs ask for memory hundreds of times a second, and are told what was free in it."""
    return int(time.monotonic() / MOMENT)


@lru_cache(maxsize=1)
def _groups(proc: Path, moment: int) -> tuple[float, ...]:
    """The rest of every control group that this process belongs to, read once in a moment."""
    try:
        belongs, mounted = (os.fsdecode((proc / name).read_bytes()) for name in ("cgroup", "mountinfo"))
    except (OSError, ValueError):
        return ()
    return tuple(rest for place in _places(belongs, mounted) for rest in _rest(*place))


@lru_cache(maxsize=1)
def _places(belongs: str, mounted: str) -> tuple[tuple[str, Path], ...]:
    """The groups of a process and those around them with the kinds of their file systems; they hardly ever change."""
    lines, places = [line.split(":", 2) for line in belongs.splitlines()], []
    for entry in (line.split() for line in mounted.splitlines()):
        kind, options = entry[entry.index("-") + 1], entry[-1].split(",")
        if kind not in _FILES or (kind == "cgroup" and "memory" not in options):
            continue
        for _, controllers, path in lines:
            if "memory" in controllers.split(",") if kind == "cgroup" else not controllers:
                places += [(kind, group) for group in _upwards(Path(entry[4]), os.path.relpath(path, entry[3]))]
    return tuple(places)


def _upwards(mount: Path, inside: str) -> Iterator[Path]:
    """A group and those around it; a path that leads out of the mount is that of its top."""
    group = mount if inside.startswith("..") else mount / inside
    yield group
    while group != mount:
        group = group.parent
        yield group


def _rest(kind: str, group: Path) -> Iterator[float]:
    limit_file, used_file, cache = _FILES[kind]
    try:
        limit = int((group / limit_file).read_bytes())  # as text it takes twice as long, and every plan asks
        if limit >= NONE:  # the kernel takes its time over the statistics
            return
        used = int((group / used_file).read_bytes())
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        yield max(float(limit - used + int(statistics.get(cache, 0))), 0.0)
    except (OSError, ValueError):  # no such group here, or "max"
        return


def _slurm(environment: Mapping[str, str]) -> Iterator[float]:
    """What the job has asked for on this node, less what this process uses; 0 is the whole node."""
    try:
        if node := int(environment.get("SLURM_MEM_PER_NODE", 0)):
            limit = node * MIB
        else:
            limit = int(environment.get("SLURM_MEM_PER_CPU", 0)) * int(environment["SLURM_CPUS_ON_NODE"]) * MIB
    except (KeyError, ValueError):
        return
    if limit:
        yield max(float(limit - psutil.Process().memory_info().rss), 0.0)


def _address_space() -> Iterator[float]:
    """What ``ulimit -v`` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError, OSError):  # Windows, or a system without that limit
        return
    if limit != resource.RLIM_INFINITY:
        yield max(float(limit - psutil.Process().memory_info().vms), 0.0)
