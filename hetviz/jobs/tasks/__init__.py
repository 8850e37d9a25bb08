"""What a worker can be asked to do."""
