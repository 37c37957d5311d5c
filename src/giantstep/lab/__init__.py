"""Running claims and trials, and writing down what came out."""
