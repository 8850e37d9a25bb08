"""Statements made on the map."""
