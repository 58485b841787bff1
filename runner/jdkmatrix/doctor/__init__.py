"""Is this host fit to measure, what to do about it, and doing it reversibly."""
