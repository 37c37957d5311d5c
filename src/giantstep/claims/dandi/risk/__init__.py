"""What a readout fits after the steps: floors, regimes, equivalents and a figure."""
