"""Neighbours, distances, affinities and Laplacians."""
