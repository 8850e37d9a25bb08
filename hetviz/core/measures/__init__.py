"""How good a map or a placement is, on plain arrays."""
