"""Pages in a real browser: headless Chromium, driven over its own protocol, pages opened as files."""
