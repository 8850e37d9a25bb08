"""The Map page and the map component."""
