"""Doing the work: blocks of seeds on processes, a cluster or this process, and what they will cost."""
