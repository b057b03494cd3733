"""The sheet of a series and of a hero run: one page on which everything can be looked at and decided."""
