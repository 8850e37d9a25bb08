"""Clustering of points, and the choice of the number of clusters."""
