"""Errors of a readout after the step: limits, improvements and floors."""
