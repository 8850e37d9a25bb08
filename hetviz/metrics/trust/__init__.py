"""Reliability of single places on a map."""
