"""Clusters of a map, and what each of them is."""
