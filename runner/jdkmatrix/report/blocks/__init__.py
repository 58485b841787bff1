"""Kinds of block, of which every page is a list, and the page itself."""
