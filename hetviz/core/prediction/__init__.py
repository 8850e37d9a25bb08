"""Models that predict labels or links."""
