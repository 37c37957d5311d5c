"""The network that takes giant steps, and the search for the best of them."""
