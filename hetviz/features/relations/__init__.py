"""Links, labels and comparisons as arrays for the methods."""
