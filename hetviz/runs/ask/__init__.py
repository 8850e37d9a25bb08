"""What to ask a person next."""
