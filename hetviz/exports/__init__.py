"""Exports: figures, tables, reports, recipes and fitted models."""
