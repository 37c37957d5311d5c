"""Other models beside the network, and their mix."""
