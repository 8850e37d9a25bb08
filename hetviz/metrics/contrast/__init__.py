"""What sets some items apart from others."""
