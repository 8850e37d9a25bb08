"""How far a map keeps what was said, and the neighbours of the data."""
