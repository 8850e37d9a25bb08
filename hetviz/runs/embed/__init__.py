"""Runs of a method on a dataset, and recipes that repeat them."""
