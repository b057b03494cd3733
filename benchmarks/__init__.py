"""Measurements, as ratios inside one run: `python -m benchmarks [name …]`. No test asserts a time."""
