"""Values of axes as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.written_values import load_name, microseconds, quota_cpus
from jdkmatrix.errors import MatrixError


@pytest.mark.parametrize(
    ("text", "us"),
    [("300us", 300), ("300", 300), ("0.5 ms", 500), ("20ms", 20_000), ("1s", 1_000_000), ("7µs", 7), ("1.001ms", 1001)],
)
def test_times_have_units(text: str, us: int) -> None:
    assert microseconds("--wait", 600_000_000, text) == us


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.5us", "whole µs"), ("2m", "is no valid time"), ("-1ms", "is no valid time"), ("", "is no valid time"),
        ("1e3", "is no valid time"),
        ("601s", "at most 600 s"),
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str, why: str) -> None:
    with pytest.raises(MatrixError, match=f"--wait: .*{why}"):
        microseconds("--wait", 600_000_000, text)


@given(st.integers(0, 10_000_000))
def test_whole_microseconds_are_what_they_are_in_any_unit(us: int) -> None:
    """1.001 ms is 1000.9999999999999 µs in floats."""
    texts = (f"{us}us", str(us), f"{us // 1000}.{us % 1000:03}ms", f"{us // 1_000_000}.{us % 1_000_000:06}s")
    assert {microseconds("--burn", 10_000_000, text) for text in texts} == {us}


def test_a_rate_may_be_written_as_one() -> None:
    assert [*map(load_name, ("5000/s", "saturate-50", "20 / s"))] == ["rate-5000", "saturate-50", "rate-20"]


def test_a_quota_is_written_as_for_a_container() -> None:
    assert [*map(quota_cpus, ("0.5", "500m", "2"))] == [0.5, 0.5, 2.0]
    for text, why in (
        ("-1", "is no valid number"), ("half", "is no valid number"), ("5 m", "is no valid number"),
        ("0", "whole thousandths"),
        ("2000", "whole thousandths"), ("1m", "whole thousandths"), ("0.0101", "is 10.1m; whole thousandths"),
    ):  # fmt: skip
        with pytest.raises(MatrixError, match=f"--cpu-quota: .*{why}"):
            quota_cpus(text)
