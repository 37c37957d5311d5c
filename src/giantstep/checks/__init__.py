"""Claims of the literature: measured, judged and reported."""
