"""Tables, pictures and matrices joined into datasets, links and comparisons."""
