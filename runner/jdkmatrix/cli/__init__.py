"""The command line `matrix`."""
