"""The spectrum of the updated features: spikes, bulk, onset."""
