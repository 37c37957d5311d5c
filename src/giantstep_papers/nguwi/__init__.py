"""Nguwi, Privault (arXiv 2604.06281).

Generalization error bounds for two-layer neural networks with Lipschitz loss.
"""
