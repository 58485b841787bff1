"""The terms of the matrix: its axes, cells, loads, executors, and how quantities are written."""
