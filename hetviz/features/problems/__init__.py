"""Comparisons, labels and links as problems that methods solve."""
