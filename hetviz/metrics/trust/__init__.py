"""Which items' surroundings on a map may be believed."""
