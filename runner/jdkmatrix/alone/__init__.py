"""Experiments without a server: the program `standalone`, one process per fork.

`command` (what a cell asks of it) and `parts` (what a cell is measured with) are pure; `fork` runs it.
"""
