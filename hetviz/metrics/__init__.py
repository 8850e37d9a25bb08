"""Measures of maps: links, comparisons, neighbours, trust and conflicts."""
