"""What the commands share that make something and tell of it: the run, its end, and lines and tables on a terminal."""
