"""Columns of a table to features, one file for each type."""
