"""Widths far below the dimension: overlaps followed step by step."""
