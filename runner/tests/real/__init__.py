"""Whole forks and whole runs, on real servers, JDKs and drivers."""
