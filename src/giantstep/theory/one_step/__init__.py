"""One giant step at any width: the conditional theory at finite sizes."""
