"""Eigenproblems: projections of one or several blocks of features."""
