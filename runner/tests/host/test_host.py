"""Facts of the real host."""

from __future__ import annotations

import os

from jdkmatrix.host.facts import read_facts
from jdkmatrix.host.topology import read_topology


def test_facts_of_this_host() -> None:
    facts = read_facts(read_topology())
    assert set(facts.cpu.allowed) == os.sched_getaffinity(0)
    assert facts.cpu.model
    assert facts.memory_bytes > 100e6
    assert facts.kernel.startswith(os.uname().release)
