"""Mei, Montanari: The generalization error of random features regression (arXiv 1908.05355)."""
