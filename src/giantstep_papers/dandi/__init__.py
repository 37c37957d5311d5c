"""Dandi, Krzakala, Loureiro, Pesce, Stephan:
How two-layer networks learn, one (giant) step at a time (arXiv 2305.18270)."""
