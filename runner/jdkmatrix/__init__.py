"""Reproducible comparison of request executors over JDKs, CPUs and task durations."""

__version__ = "0.1.0"
