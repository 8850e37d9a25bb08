"""Questions to ask a person next."""
