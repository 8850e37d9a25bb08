"""Map page and map component."""
