"""Datasets, links, comparisons, labels and embeddings."""
