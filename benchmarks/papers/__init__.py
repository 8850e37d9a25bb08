"""The five papers' experiments, run again on data we have; see README.md beside this file."""
