"""Predict page: the map and its predictions."""

from hetviz.ui.app import map_page

map_page.show_map_page("Predict")
