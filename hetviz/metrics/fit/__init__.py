"""Measures of how well a map shows guidance and the neighbours in the data."""
