"""The rules that decide whether a measurement counts, each with its limits and in words. Pure."""
