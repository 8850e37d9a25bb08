"""The Guidance page."""
