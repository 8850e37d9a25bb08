"""Map page."""

from hetviz.ui.app import map_page

map_page.show_map_page()
