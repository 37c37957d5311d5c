"""Lobo, Loureiro, Tran-Thanh and Liu: how feature learning reshapes the function space."""
