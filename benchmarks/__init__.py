"""Speeds as ratios measured in one run: ``make bench``."""

import giantstep  # noqa: F401  before NumPy, as in programs of its users: see giantstep._machine.blas
