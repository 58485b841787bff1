"""Vega-Lite specifications, whatever they show."""
