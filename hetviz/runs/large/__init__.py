"""Fits by blocks of rows for data larger than memory, on one machine or several."""
