"""Measure an application on a server, or an experiment without one, inside a fork."""
