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
    if folder.exists():
        _open(folder)
        for place, names, _ in os.walk(folder):  # a folder is listed after what is around it
            for name in names:
                _open(Path(place, name))
        shutil.rmtree(folder, ignore_errors=True)


def _open(folder: Path) -> None:
    if not folder.is_symlink():
        with suppress(OSError):
            folder.chmod(0o700)
