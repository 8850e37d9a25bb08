"""Features of table columns, one module for each type."""
