"""Joins of datasets: shared keys, lists of keys, geographic distance."""
