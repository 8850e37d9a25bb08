"""The map in a notebook: the same component as in the app, over the kernel instead of routes."""
