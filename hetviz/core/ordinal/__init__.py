"""Comparisons of distances: partial orders, and embeddings that keep them."""
