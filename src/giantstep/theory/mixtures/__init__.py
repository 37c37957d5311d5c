"""One giant step on Gaussian mixtures."""
