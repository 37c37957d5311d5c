"""Processes that compute for the explorer, and the queue of what they do."""
