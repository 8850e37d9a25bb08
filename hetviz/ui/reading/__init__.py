"""Dropped files: upload, review of what was understood, and choices."""
