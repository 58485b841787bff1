"""A file such as nix/parts.nix writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_nix_parts(folder: Path, *, jdks: Mapping[str, Path] | None = None, **changes: Any) -> Path:
    """`folder`/parts.json with these JDKs and, unless `changes` say so, nothing else that exists."""
    parts = {
        "schema_version": 1,
        "source": {"root": "/nix/store/source", "rev": "0" * 40, "dirty": False},
        "inputs": [{"name": "nixpkgs", "rev": "1" * 40, "nar_hash": "sha256-x", "locked": True}],
        "jdks": {name: str(home) for name, home in (jdks or {}).items()},
        "servers": {},
        "workloads": "/nix/store/workloads",
        "wrk2": None,
    }
    path = folder / "parts.json"
    path.write_text(json.dumps({**parts, **changes}))
    return path
