"""The way from a load in matrix.toml to what a driver is asked for."""
