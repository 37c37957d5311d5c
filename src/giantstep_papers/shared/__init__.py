"""What the claims of several papers measure, compare and draw alike."""
