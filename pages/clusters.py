"""Clusters: the map, with its groups beside it."""

from hetviz.ui.map import work

work.show("Clusters")
