"""The figures of one fork, their names, and the ones that executors are compared by. Pure."""
