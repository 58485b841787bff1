"""The report of experiments without a server: what they show on the run's page, and a page for each of their cells."""
