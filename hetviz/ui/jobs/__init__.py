"""Jobs of the visitors of a server."""
