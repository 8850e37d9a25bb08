"""What is taken out of hetviz: figures, tables, reports, recipes and fitted models."""
