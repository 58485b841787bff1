"""Servers and what they serve: how one is obtained, laid out, started, proved and queried."""
