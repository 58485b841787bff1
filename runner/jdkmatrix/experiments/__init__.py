"""The experiments without a server: one file for each. Pure."""
