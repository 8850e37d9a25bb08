"""Queries of the data: filters, rows, groups and the coverage of links."""
