"""The static site."""
