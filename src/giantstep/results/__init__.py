"""What the routes answer with."""
