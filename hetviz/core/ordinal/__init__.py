"""Comparisons of distances: partial orders, and embeddings that satisfy them."""
