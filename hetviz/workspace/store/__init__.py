"""What a project keeps on disk."""
