"""Data that lie in memory as tables, matrices and graphs of other libraries, in and out."""
