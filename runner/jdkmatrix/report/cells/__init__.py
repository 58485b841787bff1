"""The cells of a run: figures, ratios, verdicts, and which executor to take."""
