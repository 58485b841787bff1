"""Two sides compared: two runs, or two JDKs or executors of one."""
