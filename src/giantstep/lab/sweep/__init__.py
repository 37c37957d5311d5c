"""Sweeps: grids of settings that are described, run, averaged and plotted."""
