"""Ways to link datasets: keys, lists of keys, nearness on the globe."""
