"""Measure a fork, whatever runs in it: CPUs, limits, kernel settings, the remote system, failure reasons."""
