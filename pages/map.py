"""Map page."""

from hetviz.ui.map import map_page

map_page.show_map_page()
