"""Reading in a separate process with limits."""
