"""JDKs that Nix hands over: `MATRIX_JDK_MAP` names a JSON file {catalogue id: Java home}."""

from __future__ import annotations

import json
import os
from pathlib import Path

from jdkmatrix.errors import MatrixError

VARIABLE = "MATRIX_JDK_MAP"


def handed_over() -> dict[str, Path]:
    """Empty where the variable is not set.

    Raises:
        MatrixError: it is set, and its file is not such a map.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return {}
    try:
        data = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MatrixError(f"{VARIABLE}={name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict) or not all(isinstance(home, str) for home in data.values()):
        raise MatrixError(f"{VARIABLE}={name}: expected one JSON object, catalogue id to Java home")
    return {jdk_id: Path(home) for jdk_id, home in data.items()}
