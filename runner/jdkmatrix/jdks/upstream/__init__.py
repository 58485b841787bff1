"""Newer builds, as their vendors publish them. Everything here is pure: addresses to ask, and how to read answers."""
