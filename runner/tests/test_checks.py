"""`matrix doctor`: judgements on made-up hosts."""

from __future__ import annotations

import pytest

from jdkmatrix.host.checks import examine, overall
from jdkmatrix.host.facts import read_facts
from jdkmatrix.host.topology import read_topology
from jdkmatrix.records import HostFacts

CALM_CPU = {"allowed": (0, 1, 2, 3), "cores": 4, "smt": False, "governor": "performance", "boost": "off"}
CALM = {"virtualisation": None, "load_1min": 0.0, "memory_bytes": 8 << 30, "swap_bytes": 0, "clocksource": "tsc"}


def host(cpu: dict[str, object] | None = None, **changes: object) -> HostFacts:
    facts = read_facts(read_topology())
    quiet_cpu = facts.cpu.model_copy(update={**CALM_CPU, **(cpu or {})})
    return facts.model_copy(update={**CALM, "cpu": quiet_cpu, **changes})


def test_a_calm_metal_host_is_ready() -> None:
    assert overall(examine(host())) == "ready"
    assert all(not check.advice for check in examine(host()))


@pytest.mark.parametrize(
    ("facts", "name", "verdict"),
    [
        (host({"allowed": (0,), "cores": 1}), "CPUs", "unfit"),
        (host(memory_bytes=1 << 30), "memory", "unfit"),
        (host(virtualisation="virtual machine"), "machine", "noisy"),
        (host(load_1min=2.0), "load", "noisy"),
        (host(swap_bytes=1 << 30), "swap", "noisy"),
        (host({"governor": "powersave"}), "frequency governor", "noisy"),
        (host({"boost": "on"}), "boost", "noisy"),
        (host({"smt": True}), "SMT", "noisy"),
        (host(clocksource="hpet"), "clock source", "noisy"),
    ],
)
def test_what_disturbs_is_named_with_what_to_do(facts: HostFacts, name: str, verdict: str) -> None:
    checks = examine(facts)
    assert overall(checks) == verdict
    assert [(check.name, bool(check.advice)) for check in checks if check.verdict != "ready"] == [(name, True)]
