"""What every fork has, whatever it measures: CPUs, limits, kernel settings, a remote system, gates, reasons."""
