"""The static site. altair is imported only in here: import this package only to write one."""
