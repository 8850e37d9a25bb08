"""Tests of what the benchmarks are made of; the benchmarks themselves gate nothing."""
