"""New items on a fitted map."""
