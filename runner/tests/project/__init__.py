"""What stands beside the code: the docs, the workflows, the scripts."""
