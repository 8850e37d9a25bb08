"""Conversion from and to tables, matrices and graphs of other libraries."""
