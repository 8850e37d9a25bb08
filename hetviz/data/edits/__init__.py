"""Changes of the data: each returns a changed copy."""
