"""Cui, Pesce, Dandi, Krzakala, Lu, Zdeborová, Loureiro:
Asymptotics of feature learning after one gradient step (2402.04980)."""
