"""Grids of settings: described, run, averaged and drawn."""
