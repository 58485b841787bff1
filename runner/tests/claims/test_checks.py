"""The checks of every claim look at cells that a scenario measures, and those of a study at what it was about."""

from __future__ import annotations

import re

import pytest

from jdkmatrix.cli.scenarios import as_profile
from jdkmatrix.config.model import SCALES
from jdkmatrix.figures.metrics import BY_ID, CPU
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.report.claims.estimates import compared_cells
from jdkmatrix.report.claims.evidence import asks_for
from jdkmatrix.report.claims.verdicts import factor
from jdkmatrix.run.plan import select_cells
from tests.support.shipped import MATRIX, REGISTRY


@pytest.mark.parametrize("claim_id", [claim_id for claim_id, one in REGISTRY.claims.items() if one.checks])
def test_every_check_looks_at_a_cell_that_could_exist(claim_id: str) -> None:
    """The cell belongs to a scenario that names the claim, as do those that it is compared with."""
    cells = {
        cell
        for name in REGISTRY.claims[claim_id].scenarios
        for scale in SCALES
        for cell in select_cells(*as_profile(MATRIX, name, scale))
    }
    for check in REGISTRY.claims[claim_id].checks:
        asked = [cell for cell in cells if asks_for(check, cell)]
        assert asked, check.says
        for cell in asked:
            assert cells.issuperset(compared_cells(check, cell)), cell.cell_id
        for needed in check.requires:
            assert all(cell.model_copy(update={"executor": needed.arm or cell.executor}) in cells for cell in asked)
        if check.metric == CPU.id:
            of_all = [kind_of(MATRIX.loads[cell.load]).cpu_label is None for cell in asked]
            assert all(of_all), f"{check.says}: that of one step is another figure"
        if all(cell.has_server for cell in asked):
            metric = BY_ID[check.metric]
            if check.figure and not (check.versus or check.versus_load):
                published = REGISTRY.claims[claim_id].figures[check.figure - 1].unit
                assert factor(published, metric.unit) is not None, check.says


OF_THE_STUDY = [claim_id for claim_id, one in REGISTRY.claims.items() if claim_id.startswith("infoq-") and one.checks]


@pytest.mark.parametrize("claim_id", OF_THE_STUDY)
def test_a_study_of_jdk_21_and_22_is_judged_on_them(claim_id: str) -> None:
    for check in REGISTRY.claims[claim_id].checks:
        assert check.where.jdk, check.says
        assert all(re.search(r"-2[12]\b", str(pattern)) for pattern in check.where.jdk), check.says


def test_what_was_seen_on_some_kernels_is_judged_on_those_alone() -> None:
    """Each check: metric, low, high, kernel_from, kernel_below."""
    old, new = ("4.18", "4.19"), ("5.14", "6.3")
    judged = {
        claim_id: [(one.metric, one.low, one.high, one.kernel_from, one.kernel_below) for one in claim.checks]
        for claim_id, claim in REGISTRY.claims.items()
        if any(one.kernel_from or one.kernel_below for one in claim.checks)
    }
    assert judged == {
        "infoq-ping-2cpu-old": [("throughput", None, 0.55, *old), ("cpu-share", None, 0.9, *old)],
        "infoq-ping-2cpu-new": [("throughput", None, None, *new), ("cpu-share", 95, None, *new)],  # as published
        "infoq-ping-jdk22": [("throughput", None, 0.9, "4.18", "6.3")],
        "infoq-ping-duration": [("throughput", None, 0.95, *old)],
        "infoq-ping-cpus": [("throughput", None, 0.95, *old)],
        "infoq-standalone": [("throughput", None, 0.9, *old), ("CPU used", None, 0.9, *old)],
        "infoq-carrier-park": [("of 10 ms and more", 2, None, *old)],
        "infoq-tuning": [("throughput", None, 1.1, *old)],
        "infoq-ping-kernels": [
            ("throughput", None, 0.9, "4", "5"), ("cpu-share", None, 90, "4", "5"),
            ("throughput", None, 0.9, "6", "6.6"), ("cpu-share", 95, None, "6", "6.6"),
        ],
    }  # fmt: skip


POOL, VIRTUAL = ("liberty", "cpu-share", 95), ("virtual", "cpu-share", 50)
AT_REST = (None, "steady", 75)


@pytest.mark.parametrize(
    ("claims", "metrics", "least"),
    [
        # A claim about a saturated server needs it saturated; a virtual thread that pins its carrier saturates nothing.
        ("infoq-ping", {"throughput", "cpu-share"}, {POOL}),
        ("infoq-tuning", {"throughput"}, {POOL}),
        # "Less throughput and more CPU" must be seen in one cell.
        ("infoq-ping-2cpu-new", {"throughput"}, {POOL, ("virtual", "cpu-share", 95)}),
        ("infoq-semeru", {"throughput"}, {POOL}),
        ("infoq-semeru", {"saturated"}, {POOL, VIRTUAL}),
        # A bank that did not come to rest says nothing about its throughput.
        ("infoq-cpu", {"throughput", "saturated"}, {POOL, VIRTUAL, AT_REST}),
        # Platform threads that leave CPUs idle prove nothing about virtual ones.
        ("infoq-standalone", {"throughput", "CPU used"}, {("fixed-50", "CPU used", 95)}),
    ],
)
def test_a_check_needs_its_cause(claims: str, metrics: set[str], least: set[tuple[str | None, str, float]]) -> None:
    """This holds at both sizes."""
    every = (one for claim_id, claim in REGISTRY.claims.items() if claim_id.startswith(claims) for one in claim.checks)
    checks = [check for check in every if check.metric in metrics]
    assert {check.metric for check in checks} == metrics
    for check in checks:
        assert least <= {(needed.arm, needed.metric, needed.low) for needed in check.requires}


@pytest.mark.parametrize(
    ("claim_id", "axis", "asked"),
    [
        # The shortest answers take 50 to 100 µs in all, including the ping itself.
        *((f"infoq-{one}", "burn_us", {0, 50}) for one in ("ping-2cpu-old", "ping-2cpu-new", "ping-jdk22", "tuning")),
        ("infoq-ping-kernels", "burn_us", {0, 50}),
        # Two per cent more is asked of the published release alone.
        ("infoq-thousands", "server", {"open-liberty-23.0.0.10"}),
        # Tuning could close a gap only in a closed loop: at a constant rate virtual threads leave CPUs idle without
        # a gap, and every tuning gives the same result.
        ("infoq-tuning", "load", {"saturate-*"}),
    ],
)
def test_a_check_is_made_of_what_its_claim_is_about(claim_id: str, axis: str, asked: set[object]) -> None:
    for check in REGISTRY.claims[claim_id].checks:
        where = getattr(check.where, axis)
        assert where and set(where) <= asked, check.says


def test_a_pool_that_has_fewer_threads_than_connections_shows_no_pinning() -> None:
    checks = [one for one in REGISTRY.claims["pinning-sync"].checks if one.arm.startswith("virtual+") and one.low]
    assert [check.where.load for check in checks] == [("saturate-247",), ("saturate-50",)]


def test_buffers_are_looked_for_where_they_are_held() -> None:
    """That is under the load with which the process has more memory."""
    claim = REGISTRY.claims["infoq-memory"]
    for check in claim.checks:
        least = check.low if check.figure is None else claim.figures[check.figure - 1].value
        assert least is not None and least > 1, check.says


def test_pollers_on_one_cpu_which_have_one_carrier_cannot_contradict_what_was_seen_on_more() -> None:
    on_25 = [
        one
        for claim in REGISTRY.claims.values()
        for one in claim.checks
        if one.arm == "helidon+poller-mode-1" and one.where.jdk == ("*-25*",)
    ]
    on_one_cpu = [one for one in on_25 if one.where.cpus == (1,)]
    assert len(on_one_cpu) == 5 and all(one.one_is_enough for one in on_one_cpu)
    assert all(one.where.cpus and 1 not in one.where.cpus for one in on_25 if one not in on_one_cpu)
