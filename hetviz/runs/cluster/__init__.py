"""Clusters and named regions of a map."""
