"""Spaces, similarities and graphs in which items are compared."""
