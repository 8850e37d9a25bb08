"""Commands of a project."""
