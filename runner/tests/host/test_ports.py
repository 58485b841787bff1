"""Local ports of this host."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.host.ports import local_ports, server_port


def test_the_range_of_the_kernel_counts(tmp_path: Path) -> None:
    file = tmp_path / "proc/sys/net/ipv4/ip_local_port_range"
    file.parent.mkdir(parents=True)
    file.write_text("1024\t1033\n")
    assert local_ports(tmp_path) == 10


def test_a_kernel_that_does_not_tell_has_the_usual_ones(tmp_path: Path) -> None:
    assert local_ports(tmp_path) == 28_232


@pytest.mark.parametrize(
    ("text", "allowed"), [("1024\t60000\n", range(60_001, 65_536)), ("20000 65535", range(10_000, 20_000))]
)
def test_a_server_gets_a_port_that_nobody_gets_by_chance(tmp_path: Path, text: str, allowed: range) -> None:
    file = tmp_path / "proc/sys/net/ipv4/ip_local_port_range"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert {server_port(tmp_path) for _ in range(50)} <= set(allowed)
    file.write_text("1024 65535")
    assert server_port(tmp_path) >= 10_000, "where there are no others, one of those"
    file.write_text("9000 65500")  # which Oracle's database asks for
    assert server_port(tmp_path) >= 10_000, "where there are few others"
