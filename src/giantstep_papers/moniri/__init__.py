"""Moniri, Lee, Hassani, Dobriban: A theory of non-linear feature learning with one gradient step (arXiv 2310.07891)."""
