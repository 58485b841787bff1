"""What one fork says in figures, which of them executors are compared by, and how each is called. Pure."""
