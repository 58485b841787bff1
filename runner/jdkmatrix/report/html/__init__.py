"""Safe assembly of a page, and the page of the method."""
