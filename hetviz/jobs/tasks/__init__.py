"""Tasks of the worker."""
