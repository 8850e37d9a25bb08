"""Benchmarks of time, memory and quality against other packages, run separately from the tests."""
