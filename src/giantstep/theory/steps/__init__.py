"""Several giant steps at a width of the order of d: a step maps a law of rows to a law of rows."""
