"""Running claims and writing down what came out."""
