"""Two runs, or two JDKs or executors of one run, side by side."""
