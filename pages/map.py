"""Map: the work place."""

from hetviz.ui.map import work

work.show()
