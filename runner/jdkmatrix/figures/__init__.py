"""The figures of one fork, their names, and by which of them executors are compared. Pure."""
