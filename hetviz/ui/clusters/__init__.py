"""The Clusters page."""
