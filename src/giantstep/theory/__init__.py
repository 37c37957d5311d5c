"""What theory predicts for random features and for networks after giant steps."""
