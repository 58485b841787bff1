"""Remove what a server or its application has left in a folder of its own."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove the folder, with folders in it that their owner may not write, as package managers make them. What cannot
    be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for place, _, _ in os.walk(_opened(folder)):
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _opened(Path(entry.path))
    shutil.rmtree(folder, ignore_errors=True)


def _opened(folder: Path) -> Path:
    with suppress(OSError):
        folder.chmod(0o700)
    return folder
