"""The claims and their verdicts."""
