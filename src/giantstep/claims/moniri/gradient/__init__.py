"""The gradient of the first step: rank one, and along what."""
