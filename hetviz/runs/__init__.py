"""Runs: data, method, parameters and seed to a result that can be repeated."""
