"""The report of the verdicts, as a page and as tables."""
