"""Experiments without a server: the program `standalone`, one process per fork."""
