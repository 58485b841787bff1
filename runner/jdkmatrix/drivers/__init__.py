"""Load generators behind one interface."""
