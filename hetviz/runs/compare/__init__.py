"""Several methods judged by what none of them saw."""
