"""Numerics on arrays: eigenproblems, kernels, graphs and measures, without the data model."""
