"""Neighbours, distances, affinities and graph Laplacians."""
