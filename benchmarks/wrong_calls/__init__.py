"""Call everything public with wrong arguments, and count what is not refused in one sentence."""
