"""The static site. Only this package imports altair: import it only to write a site."""
