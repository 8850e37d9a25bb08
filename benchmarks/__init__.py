"""Time, memory and quality, measured beside a peer in the same run; never run by the tests."""
