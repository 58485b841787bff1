"""Servers and what they serve: how one is got, laid out, started, proved, asked."""
