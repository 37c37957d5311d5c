"""Liu, Suykens and Cevher (2022): SGD on random features.

Its bias and variance, and the interpolation threshold.
"""
