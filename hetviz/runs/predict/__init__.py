"""Unknown links and labels, predicted."""
