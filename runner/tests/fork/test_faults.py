"""The forks that are measured again are chosen by statuses and codes, never by figures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jdkmatrix.drivers.base import DriverError
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.affinity import AffinityError
from jdkmatrix.fork.faults import KINDS, LostUpdateError, ProgramError, code_of, faults, faults_of
from jdkmatrix.fork.kernel import KernelError
from jdkmatrix.fork.remote import RemoteError
from jdkmatrix.fork.watchdog import DiskFullError, FloodError
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.ending import KilledError, OutOfMemoryError
from jdkmatrix.host.http import HttpError, NoAnswerError
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.process import HungError, LateStartError, ServerError, ServerOutOfMemoryError
from jdkmatrix.servers.proof import ProofError
from tests.support.builders import fork_with, latency, load_result, pressure, reasons, sut_usage, window
from tests.support.pinning_results import program_fork, result
from tests.support.records import altered


def ended(status: Status, ends: Sequence[str], gates: Sequence[str] = (), figure: float = 1000.0) -> Fork:
    """Make a fork of one window, whose figures are all made from `figure`."""
    load = load_result(
        throughput_rps=figure, completed=int(figure), uncorrected=latency(figure), driver_cpu_share=figure
    )
    usage = sut_usage(cpu_us_per_request=figure, cpu_s=figure, cpu_share=figure)
    one = window(1, load, t_s=figure, sut=usage, host=pressure(figure, figure), reasons=reasons(*gates))
    return altered(fork_with(one, status=status), {"reasons": reasons(*ends), "first_response_s": figure})


@pytest.mark.parametrize(
    "kind", [DriverError, RemoteError, AffinityError, CgroupError, KernelError, KilledError, DiskFullError, MatrixError]
)
def test_what_the_host_or_the_measurement_did_is_a_fault(kind: type[MatrixError]) -> None:
    code = code_of(kind("it broke"))
    assert faults_of(ended(Status.FAILED, [code])) == (code,)


@pytest.mark.parametrize(
    "kind",
    [HungError, ServerError, SutGoneError, FloodError, ProofError, LostUpdateError, HttpError, NoAnswerError,
     ProgramError, LateStartError, OutOfMemoryError, ServerOutOfMemoryError],
)  # fmt: skip
def test_what_the_server_did_is_a_result(kind: type[MatrixError]) -> None:
    assert faults_of(ended(Status.FAILED, [code_of(kind("it broke"))])) == ()


def test_a_start_that_takes_too_long_is_no_hang() -> None:
    assert code_of(LateStartError("it did not start within 180 s")) == "server"
    assert code_of(HungError("no answer within 10 s")) == "server-hangs"


@pytest.mark.parametrize("kind", [OutOfMemoryError, ServerOutOfMemoryError])
def test_an_end_out_of_memory_has_a_name_of_its_own(kind: type[MatrixError]) -> None:
    assert code_of(kind("it ran out of memory, and was killed by signal 9")) == "out-of-memory"


def test_our_own_mistake_is_a_fault_and_what_nobody_knows_is_not() -> None:
    assert faults_of(ended(Status.FAILED, ["internal-error"])) == ("internal-error",)
    assert faults_of(ended(Status.FAILED, ["brand-new"])) == ()


@pytest.mark.parametrize("code", ["steal", "foreign-cpu", "driver-saturated", "remote-late", "affinity-changed", "new"])
def test_a_gate_that_was_not_passed_is_a_fault_by_what_it_is(code: str) -> None:
    spoilt = ended(Status.INVALID, ["too-few-valid-windows"], [code, code, "rate-missed"])
    assert faults_of(spoilt) == (code,)


def test_a_program_without_a_server_is_judged_alike() -> None:
    found = result(40.0)
    assert faults_of(program_fork(1, found, Status.INVALID, "steal", "threads-limit")) == ("steal",)
    assert faults_of(program_fork(1, found, Status.OK, "threads-limit")) == ()
    assert faults_of(program_fork(1, None, Status.FAILED, "remote")) == ("remote",)
    assert faults_of(program_fork(1, None, Status.FAILED, "program")) == ()


codes = st.lists(st.sampled_from([*KINDS, "steal", "foreign-cpu", "compiling", "brand-new"]), max_size=4)
figures = st.floats(min_value=0.001, max_value=1e9)


@given(st.sampled_from(Status), codes, codes, figures, figures)
def test_no_figure_matters(status: Status, ends: list[str], gates: list[str], figure: float, another: float) -> None:
    one, other = ended(status, ends, gates, figure), ended(status, ends, gates, another)
    assert faults_of(one) == faults_of(other) == faults(status, ends, gates)


@given(st.sampled_from(Status), codes, codes)
@example(Status.FAILED, ["killed", "threads-limit"], [])
@example(Status.FAILED, ["driver", "threads-limit"], [])
def test_only_what_cannot_be_used_is_repeated_and_never_an_outcome_unless_it_was_killed(
    status: Status, ends: list[str], gates: list[str]
) -> None:
    found = faults(status, ends, gates)
    assert not found or status in (Status.FAILED, Status.INVALID)
    assert all(KINDS.get(code, "fault") == "fault" for code in found)
    if status is Status.FAILED and any(KINDS.get(code) == "outcome" for code in ends):
        assert bool(found) == ("killed" in ends), "from outside, whatever it had run into before"
