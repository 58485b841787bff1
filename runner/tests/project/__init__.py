"""Tests of what stands beside the code: the docs, the workflows, the scripts."""
