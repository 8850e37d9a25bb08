"""Partitions of points, and how many groups to make."""
