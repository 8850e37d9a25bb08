"""Files as people drop them: several at once, newer versions, new items."""
