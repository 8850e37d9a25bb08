"""From raw columns, kernels and distances to the matrices that methods work on."""
