"""Pages in a real browser: headless Chromium, driven over its own protocol, with pages opened as files."""
