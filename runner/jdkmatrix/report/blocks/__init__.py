"""The kinds of block that every page consists of, and the page itself."""
