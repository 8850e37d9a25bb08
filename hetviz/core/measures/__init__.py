"""Quality measures of maps and placements on plain arrays."""
