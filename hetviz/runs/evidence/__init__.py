"""Rows, rule, sample size and chance level behind what a map states."""
