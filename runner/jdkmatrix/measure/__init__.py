"""One fork from start to stop, and a run of many."""
