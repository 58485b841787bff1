"""The system under test: start it, prove what it runs, stop it."""
