"""Tests of a running server without a browser: faults and concurrent visitors."""
