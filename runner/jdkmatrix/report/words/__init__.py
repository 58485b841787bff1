"""Words and numbers as every page and the terminal write them."""
