"""Saad, Solla: On-line learning in soft committee machines (Physical Review E 52, 1995)."""
