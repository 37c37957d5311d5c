"""Demir and Dogan (2503.00856).

Two-layer networks after one gradient step on Gaussian mixtures with structure.
"""
