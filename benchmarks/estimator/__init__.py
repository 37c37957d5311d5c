"""The estimators against the usual ones, on the same splits in one run: ``python -m benchmarks.estimator --help``."""
