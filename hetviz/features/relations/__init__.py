"""What links, labels and comparisons say, as the arrays that methods take."""
