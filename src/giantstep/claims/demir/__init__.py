"""Demir, Dogan: Asymptotic analysis of two-layer networks after one step under Gaussian mixtures (arXiv 2503.00856)."""
