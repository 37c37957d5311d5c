"""Hu, Lu: Universality laws for high-dimensional learning with random features (arXiv 2009.07669)."""
