"""The experiments without a server, one file each. Pure."""
