"""What the dynamic loader would map for a program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def loaded(program: Path) -> list[Path]:
    """The interpreter and every library of `program` as found here, transitively; the program is not run (ld.so(8))."""
    done = subprocess.run(
        [program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, timeout=60, check=True
    )
    assert "not found" not in done.stdout, done.stdout
    return [Path(path) for path in re.findall(r"(?:=> |^\t)(/\S+) \(0x", done.stdout, re.MULTILINE)]
