"""Blocks of trials, the executors that run them, and a forecast of what they cost."""
