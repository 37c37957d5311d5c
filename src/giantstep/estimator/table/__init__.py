"""The columns of a table before a network sees them."""
