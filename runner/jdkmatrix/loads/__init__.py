"""From a load as matrix.toml has it to what a driver is asked for."""
