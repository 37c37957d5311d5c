"""What a user gives, checked: plain values, seeds, functions."""
