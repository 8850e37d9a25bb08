"""Kernels, regression on them, and maps that preserve them."""
