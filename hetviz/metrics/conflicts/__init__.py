"""Conflicts, duplicates and costs of guidance."""
