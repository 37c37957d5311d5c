"""Bubeck, Cherapanamjeri, Gidel, Tachet des Combes: A single gradient step finds adversarial
examples (arXiv 2104.03863)."""
