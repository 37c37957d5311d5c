"""Several giant steps, followed by overlaps."""
