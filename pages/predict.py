"""Predict: the map, with what may be missing beside it."""

from hetviz.ui.map import work

work.show("Predict")
