"""Features, spaces and graphs of the data, as matrices for the methods."""
