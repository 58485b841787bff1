"""The page of a cell: its forks, their windows, seconds and logs."""
