"""What the program of the experiment on pinning prints, and what a real one comes to where carriers are kept."""

from __future__ import annotations

from typing import Any

RESULT: dict[str, Any] = {
    "schema_version": 1, "experiment": "pinning", "version": "1", "started_utc": "2026-11-22T00:00:00Z",
    "outcome": "complete", "problem": None, "asked": {},
    "expected": {"quantity": "throughput_per_s", "formula": "threads / D", "value": 2000.0, "source": "a rule"},
    "seen": {
        "threads_started": 100, "duration_s": 1.0, "operations": 1990, "throughput_per_s": 1990.0, "latency": None,
        "lower_bounds": 0, "threads_served": 100, "cpu_s": 0.1, "carriers": None,
        "pinned": {"probe": "unavailable", "reason": "made up"},
    },
    "vm": {
        "java_version": "25", "name": "n", "vm_version": "25", "vendor": "v", "options": [], "processors": 1,
        "max_heap_bytes": 1, "collectors": [], "kernel": "k", "arch": "a",
    },
}  # fmt: skip


def assert_pinned(per_s: float, expected_per_s: float) -> None:
    """A busy host makes it fewer; nothing but free carriers makes it more."""
    assert 0.5 * expected_per_s <= per_s <= 1.15 * expected_per_s, per_s
