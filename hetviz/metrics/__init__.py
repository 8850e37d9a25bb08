"""How well a map does: guidance kept, neighbours kept."""
