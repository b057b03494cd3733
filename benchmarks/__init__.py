"""Measurements, as ratios inside one run: `python -m benchmarks [name …]`. No test asserts a time.

Each module named in `__main__` has `measure(*, quick: bool = False) -> list[Figure]`. What is compared takes turns
(`clock.take_turns`), so that a machine that is busy slows all of it, and the ratio is the median over the rounds.
"""
