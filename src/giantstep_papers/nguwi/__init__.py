"""Nguwi, Privault: Generalization error bounds for two-layer neural networks with Lipschitz loss (arXiv 2604.06281)."""
