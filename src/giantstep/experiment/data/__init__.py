"""Data: the laws of inputs, and finite tables of them."""
