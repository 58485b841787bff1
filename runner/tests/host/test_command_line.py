"""The kernel's command line as it is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.host.command_line import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("BOOT_IMAGE=/vmlinuz-6.1 root=UUID=0a-1b ro quiet", "BOOT_IMAGE=/vmlinuz-6.1 root=UUID=0a-1b ro quiet"),
        ("mitigations=auto isolcpus=2,3 iommu.passthrough=1", "mitigations=auto isolcpus=2,3 iommu.passthrough=1"),
        ("rd.iscsi.password=hunter2 quiet", "rd.iscsi.password=*** quiet"),
        ("my.API_KEY=abc ACCESS-Token=x=y", "my.API_KEY=*** ACCESS-Token=***"),
        ('init.secret="two words" ro', "init.secret=*** ro"),
        ('"quoted.passphrase=two words" ro', "quoted.passphrase=*** ro"),
        ("netroot=iscsi:me:hunter2@192.168.1.1::3260::iqn", "netroot=iscsi:***@192.168.1.1::3260::iqn"),
        ("netroot=iscsi:me:hunter2:they:hunter3@10.0.0.1::::iqn.x", "netroot=iscsi:***@10.0.0.1::::iqn.x"),
        ("netroot=iscsi:me:hun/ter=:2@10.0.0.1", "netroot=iscsi:***@10.0.0.1"),
        ("install=http://me:hunter@2@example.org/x", "install=http://***@example.org/x"),
        ('init.args="a password=hunter 2"', 'init.args="a password=***"'),
        ("netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2/12:34:56:78:9a:bc",
         "netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2/12:34:56:78:9a:bc"),
        ('init.args="--user me --password=hunter2 ro', 'init.args="--user me --password=***'),
        ("rdinit=/x -- --token abc --auth-required --port 1", "rdinit=/x -- --token *** --auth-required --port 1"),
        ("-- --token --port 1", "-- --token --port 1"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_command_line_is_shown_without_its_secrets(text: str, shown: str) -> None:
    assert masked(text) == shown


AROUND = st.lists(st.sampled_from(['"', "'", "=", " ", "\t", "--token", ":", "@", "a"])).map("".join)


@given(AROUND, st.sampled_from(["password", "rd.luks.PASSPHRASE", "cloud-token", "client_secret", "x.api-key"]))
def test_no_secret_is_shown_whatever_stands_around_it(around: str, name: str) -> None:
    assert "hunter2" not in masked(f"{around} {name}=hunter2 ro")
