"""Doubles and builders that several tests share."""
