"""Positions, colours and visible rows of maps, for pages and browsers."""
