"""The app as a whole: server, navigation, top bar, and the map with its panel."""
