"""Layouts found by iteration: stochastic neighbour embedding, UMAP, and moving one onto another."""
