"""Dandi et al. (2023): giant steps on multi-index targets."""
