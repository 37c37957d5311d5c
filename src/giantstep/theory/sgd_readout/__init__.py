"""A second layer trained by one pass of SGD on random features."""
