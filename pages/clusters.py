"""Clusters: the map, with its groups beside it."""

from hetviz.ui.map import map_page

map_page.show_map_page("Clusters")
