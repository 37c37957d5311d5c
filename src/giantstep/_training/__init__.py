"""One giant step, the features after it, and how a simulation is planned and put together."""
