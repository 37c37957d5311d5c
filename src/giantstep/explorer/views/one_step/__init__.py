"""One giant step: errors and spectra."""
