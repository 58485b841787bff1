"""Programs that a test makes."""

from __future__ import annotations

from pathlib import Path


def program(path: Path, text: str) -> Path:
    """`text` begins with #! and what runs it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
