"""A theory of non-linear feature learning with one gradient step (arXiv 2310.07891).

By Moniri, Lee, Hassani and Dobriban.
"""
