"""Programs that a test makes, and the files that the dynamic loader would map for one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.support.waiting import HANGS_S


def program(path: Path, text: str) -> Path:
    """Write a program; `text` begins with #! and its interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def loaded(path: Path) -> list[Path]:
    """Return its interpreter and all its libraries as found here, transitively; the program is not run (ld.so(8))."""
    done = subprocess.run(
        [path], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, timeout=HANGS_S, check=True
    )
    assert "not found" not in done.stdout, done.stdout
    return [Path(one) for one in re.findall(r"(?:=> |^\t)(/\S+) \(0x", done.stdout, re.MULTILINE)]
