"""Ba, Erdogdu, Suzuki, Wang, Wu, Yang:
High-dimensional asymptotics of feature learning (arXiv 2205.01445)."""
