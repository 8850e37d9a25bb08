"""What a file does not say of itself, found out from its content."""
