"""What the data are: datasets, links, comparisons, labels, and the maps of them."""
