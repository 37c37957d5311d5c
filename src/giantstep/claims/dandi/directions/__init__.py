"""Which directions giant steps learn, and when."""
