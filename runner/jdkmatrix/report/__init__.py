"""The static site. altair and vl-convert are imported only in here: import this package only to write one."""
