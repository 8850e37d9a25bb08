"""Prediction of unknown links and labels."""
