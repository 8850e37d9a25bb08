"""One method fitted to some data, and the recipe that repeats it."""
