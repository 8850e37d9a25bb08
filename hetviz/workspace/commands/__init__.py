"""Everything a user can do, and what it does to the state."""
