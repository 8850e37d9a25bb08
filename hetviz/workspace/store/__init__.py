"""Storage of projects on disk."""
