"""The papers that giantstep checks: a folder for each, with a file for every claim and what its claims compute with.

``giantstep.claims`` finds the claims by walking these folders.
"""
