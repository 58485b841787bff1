"""A file like the one that nix/parts.nix writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_nix_parts(folder: Path, **changes: Any) -> Path:
    """Write `folder`/parts.json, in which nothing exists unless `changes` say so."""
    parts = {
        "schema_version": 1,
        "source": {"root": "/nix/store/source", "rev": "0" * 40, "dirty": False},
        "inputs": [{"name": "nixpkgs", "rev": "1" * 40, "nar_hash": "sha256-x", "locked": True}],
        "jdks": {},
        "servers": {},
        "workloads": "/nix/store/workloads",
        "wrk2": None,
    }
    path = folder / "parts.json"
    path.write_text(json.dumps({**parts, **changes}, default=str))
    return path
