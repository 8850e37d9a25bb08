"""What contradicts, repeats or costs much in what was said."""
