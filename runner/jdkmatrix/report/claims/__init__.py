"""Published claims beside what was measured: estimates, verdicts, and how they are shown."""
