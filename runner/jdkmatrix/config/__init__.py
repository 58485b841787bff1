"""matrix.toml, typed and validated."""
