"""Demir and Dogan: Two-layer networks after one gradient step on Gaussian mixtures with structure (2503.00856)."""
