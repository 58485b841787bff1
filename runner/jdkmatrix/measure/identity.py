"""What decides a result: two cells with the same identity may stand for each other. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from jdkmatrix.records import Identity


def identity_of(inputs: Mapping[str, Any]) -> Identity:
    """`inputs` must be JSON; equal inputs give equal digests whatever the order of their keys."""
    canonical = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return Identity(digest=hashlib.sha256(canonical.encode()).hexdigest(), inputs=dict(inputs))
