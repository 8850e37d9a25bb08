"""Bundles: a folder or a zip with a hetviz.toml."""
