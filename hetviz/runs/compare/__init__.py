"""Comparison of methods and settings by held-out links and comparisons."""
