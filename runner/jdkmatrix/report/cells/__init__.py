"""What the cells of a run come to: figures, ratios, what is judged of them, and which executor to take."""
