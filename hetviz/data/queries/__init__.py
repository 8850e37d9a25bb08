"""Questions about the data: which rows, which links, how far they reach."""
