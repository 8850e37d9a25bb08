"""The Data page and the reading of files."""
