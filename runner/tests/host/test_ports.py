"""Local ports of this host."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.host.ports import local_ports


def test_the_range_of_the_kernel_counts(tmp_path: Path) -> None:
    file = tmp_path / "proc/sys/net/ipv4/ip_local_port_range"
    file.parent.mkdir(parents=True)
    file.write_text("1024\t1033\n")
    assert local_ports(tmp_path) == 10


def test_a_kernel_that_does_not_tell_has_the_usual_ones(tmp_path: Path) -> None:
    assert local_ports(tmp_path) == 28_232
