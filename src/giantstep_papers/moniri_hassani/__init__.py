"""Moniri and Hassani: feature learning in linear-width networks, two steps against one (arXiv 2605.17767)."""
