"""What this library adds: one prediction for every step size,
and the best step size and penalty."""
