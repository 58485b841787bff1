"""Vega-Lite specifications, independent of what they show."""
