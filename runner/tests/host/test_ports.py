"""Local ports of this host."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.host.ports import local_ports, server_port
from tests.support.doctor_host import write

RANGE = "proc/sys/net/ipv4/ip_local_port_range"


def test_the_range_of_the_kernel_counts(tmp_path: Path) -> None:
    assert local_ports(tmp_path) == 28_232, "the usual ones where it does not tell"
    write(tmp_path, RANGE, "1024\t1033\n")
    assert local_ports(tmp_path) == 10


@pytest.mark.parametrize(
    ("text", "allowed"), [("1024\t60000\n", range(60_001, 65_536)), ("20000 65535", range(10_000, 20_000))]
)
def test_a_server_gets_a_port_that_nobody_gets_by_chance(tmp_path: Path, text: str, allowed: range) -> None:
    write(tmp_path, RANGE, text)
    assert {server_port(tmp_path) for _ in range(50)} <= set(allowed)
    for wide in ("1024 65535", "9000 65500"):  # the second is what Oracle's database asks for
        write(tmp_path, RANGE, wide)
        assert server_port(tmp_path) >= 10_000, "where there are few others or none, one of those"
