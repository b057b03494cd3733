"""A project that means harm: what a clone may hold, trick by trick, and the walk of every command over it.

`files/<trick>/` is laid over a good project; `tricks.py` makes what Git cannot hold; `walk.py` runs the commands in a
process of its own and tells what they let happen.
"""
