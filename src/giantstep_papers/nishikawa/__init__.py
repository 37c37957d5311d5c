"""Nishikawa, Suzuki, Nitanda and Wu (2022): mean-field networks on functions,
trained to their global optimum."""
