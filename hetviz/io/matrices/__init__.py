"""Matrices that come beside a table: joined to its rows by id."""
