"""What is measured inside a fork: an application on a server, or an experiment without one."""
