"""Two giant steps at linear width: the spectrum of the first layer."""
