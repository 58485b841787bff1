"""The site: many runs, one answer to a question, and what was published beside what was measured."""
