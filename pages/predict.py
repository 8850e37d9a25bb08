"""Predict: the map, with what may be missing beside it."""

from hetviz.ui.map import map_page

map_page.show_map_page("Predict")
