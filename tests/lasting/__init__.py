"""A running server, visited without a browser: faults, many visitors, nothing lost or mixed up."""
