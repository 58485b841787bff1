"""The rules by which a measurement counts, each with its limits and in words. Pure."""
