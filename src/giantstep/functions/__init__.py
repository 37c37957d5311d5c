"""Functions of Gaussian inputs: parsing them, and the only place where their Hermite coefficients are computed."""
