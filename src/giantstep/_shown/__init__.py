"""What a user sees of a result outside a figure: HTML, notebooks, formulas as text."""
