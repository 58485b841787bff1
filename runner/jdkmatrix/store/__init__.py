"""Results on disk: `RUN/run.json`, `RUN/cells/CELL.json`, `RUN/logs/CELL/FORK/`."""
