"""Kernels in learned coordinates."""
