"""Intake of uploaded files: several at once, newer versions, new items."""
