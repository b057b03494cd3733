"""thumbforge: one consistent thumbnail per video of a playlist, as a declarative build on doit."""

__version__ = "0.1.0"
