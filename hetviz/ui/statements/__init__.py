"""Saying something on the map."""
