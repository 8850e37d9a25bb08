"""Edits of the data; each function returns a changed copy."""
