"""The page of a run: its answers, the sections of its loads, its facts and notices."""
