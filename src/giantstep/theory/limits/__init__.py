"""Published limits: random features, the bulk and its spikes, the gains of one step."""
