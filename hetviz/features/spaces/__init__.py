"""Spaces in which the items of a dataset are compared."""
