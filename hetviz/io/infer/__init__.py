"""Inference of encoding, dialect, ids and column types from the content of files."""
