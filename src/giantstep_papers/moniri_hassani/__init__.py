"""Moniri and Hassani (2605.17767).

Feature learning in linear-width networks, two steps against one.
"""
