"""Measure one fork: start the server, prove its executor, warm it, measure its windows, stop it.

Whatever happens is recorded: a fork that fails keeps what it had measured, its reason and its logs.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from jdkmatrix.config.executors import base_of
from jdkmatrix.config.model import Matrix
from jdkmatrix.doctor.base import Host
from jdkmatrix.drivers.base import Driver, DriverError, Target
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure.gates import measured_status, too_few_valid
from jdkmatrix.measure.kernel import KernelError, kernel_settings
from jdkmatrix.measure.observe import Bench
from jdkmatrix.measure.phases import measure_phases
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.measure.warming import warm
from jdkmatrix.measure.warmup import (
    why_not_steady,
)
from jdkmatrix.measure.watchdog import FloodError, Watchdog, shorten_logs
from jdkmatrix.measure.windows import Listener, Windows
from jdkmatrix.plan import PlannedFork
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.probes.sampler import Sampler
from jdkmatrix.records import (
    BurnCheck,
    Capacity,
    CellLoad,
    Fork,
    Pinning,
    Proof,
    Reason,
    Status,
    Warmup,
    Window,
)
from jdkmatrix.stats.capacity import is_known
from jdkmatrix.sut.affinity import AffinityError, allow_jit
from jdkmatrix.sut.http import Connection, NoAnswerError
from jdkmatrix.sut.instance import Instance
from jdkmatrix.sut.proof import ProofError, prove_executor
from jdkmatrix.sut.server import HungError, Launch, ServerError, ServerProcess
from jdkmatrix.sut.threads import dump_threads

_BURN_REPEATS = 50
_FLOOD = "flood"
_CODES = (
    (HungError, "server-hangs"),
    (ServerError, "server"),
    (SutGoneError, "server"),
    (FloodError, _FLOOD),
    (ProofError, "wrong-executor"),
    (DriverError, "driver"),
    (AffinityError, "pinning"),
    (CgroupError, "pinning"),
    (KernelError, "kernel"),
)


def now_utc() -> str:
    """The time of day as records keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class ForkSetup:
    """Everything that one fork needs. `scratch` is its own and gone afterwards; `log_dir` stays."""

    planned: PlannedFork
    load: CellLoad
    matrix: Matrix
    windows: int
    window_s: float
    burn_rounds: int
    cpu_sets: CpuSets
    pinner: Pinner
    driver: Driver
    instance: Instance
    kernel: Mapping[str, str]  # files and what they hold while it runs
    scratch: Path
    log_dir: Path
    log_prefix: str  # from the cell file to `log_dir`


@dataclass
class _Draft:
    """What is known so far."""

    started_at: str = field(default_factory=now_utc)
    failed: bool = False
    reasons: list[Reason] = field(default_factory=list)
    sut_command: tuple[str, ...] = ()
    driver_command: tuple[str, ...] = ()
    first_response_s: float | None = None
    proof: Proof | None = None
    burn_check: BurnCheck | None = None
    warmup: Warmup | None = None
    windows: list[Window] = field(default_factory=list)
    capacity: Capacity | None = None
    sampler: Sampler | None = None

    def fail(self, code: str, message: str) -> None:
        self.failed = True
        self.reasons.append(Reason(code=code, message=message))


def measure_fork(setup: ForkSetup, listener: Listener) -> Fork:
    """Never raises for what can go wrong with a server or a driver: that is a result. Ctrl-C passes through, with
    both processes ended."""
    draft = _Draft()
    try:
        with kernel_settings(Host(root=Path("/"), results=setup.log_dir), setup.kernel):
            _measure(setup, setup.instance.lay_out(setup.scratch, setup.log_dir), draft, listener)
    except MatrixError as error:
        draft.fail(_code(error), str(error))
    except Exception as error:
        draft.fail("internal-error", f"{type(error).__name__}: {error}")
        (setup.log_dir / "traceback.txt").write_text(traceback.format_exc())
    finally:
        shutil.rmtree(setup.scratch, ignore_errors=True)
        if any(reason.code == _FLOOD for reason in draft.reasons):
            shorten_logs(setup.log_dir)
    return _finish(setup, draft)


def _measure(setup: ForkSetup, launch: Launch, draft: _Draft, listener: Listener) -> None:
    draft.sut_command = tuple(launch.command)
    cgroup = setup.pinner.group("sut", _jit_cpus(setup))
    with (
        ServerProcess(
            launch, cpus=setup.cpu_sets.sut, cgroups=[cgroup] if cgroup else [], rules=setup.matrix.server
        ) as server,
        Watchdog(setup.log_dir, setup.matrix.server, server.kill) as watchdog,
    ):
        try:
            _load(setup, launch, server, draft, listener)
        except MatrixError as error:
            # What followed from the end of the server is not the reason; nor is its end, if we ended it.
            watchdog.check()
            server.check_alive()
            if not isinstance(error, HungError | NoAnswerError):
                raise
            listener.step("the server hangs: asking for its threads")
            found = dump_threads(server.pid, setup.instance.java, setup.log_dir)
            server.kill()
            raise HungError(f"the server hangs: {error}; {found}") from None
        listener.step("stopping the server")


def _load(setup: ForkSetup, launch: Launch, server: ServerProcess, draft: _Draft, listener: Listener) -> None:
    rules = setup.matrix
    key = setup.planned.key
    listener.step("starting the server")
    target = Target(
        url=f"{launch.base_url}/ping" + (f"?burn_us={key.burn_us}" if key.burn_us else ""),
        cpus=setup.cpu_sets.driver,
        log_dir=setup.log_dir,
        timeout_s=rules.driver.timeout_s,
        cgroup=setup.pinner.group("driver", setup.cpu_sets.driver),
    )
    # The slowest question is that for the fastest of some burns.
    timeout_s = rules.server.answer_timeout_s + _BURN_REPEATS * key.burn_us / 1e6
    jit_cpus = _jit_cpus(setup)
    with ExitStack() as stack:
        # The driver starts while the server does; each needs seconds for it.
        session = stack.enter_context(setup.driver.open(target))
        draft.first_response_s = server.wait_ready(lambda pid: allow_jit(pid, jit_cpus))
        session.wait_ready()
        connection = stack.enter_context(Connection(launch.base_url, timeout_s=timeout_s))
        sampler = stack.enter_context(
            Sampler(server.pid, launch.base_url, started_ns=server.started_ns, every_s=rules.measure.sample_s)
        )
        draft.sampler = sampler
        draft.proof = prove_executor(connection, base_of(key.executor), requests=rules.measure.proof_requests)
        bench = Bench(server, session, sampler, connection, setup.cpu_sets)
        try:
            draft.warmup = warm(bench, key, setup.load, rules.warmup, jit_cpus=_jit_cpus(setup), listener=listener)
            setup.pinner.confine(server.pid, setup.cpu_sets.sut)
            if setup.burn_rounds:
                draft.burn_check = _check_burn(setup, connection)
            draft.capacity = measure_phases(
                setup.load,
                Windows(bench, rules.thresholds, setup.log_prefix, listener),
                count=setup.windows,
                window_s=setup.window_s,
                done=draft.windows,
            )
            # Each window begins with a question; a server that hangs in the last one is found by this one.
            connection.get("/gauges")
        finally:
            draft.driver_command = tuple(session.command)


def _jit_cpus(setup: ForkSetup) -> tuple[int, ...]:
    """Where the compiler may run until the server is warm."""
    extra = setup.cpu_sets.driver if setup.matrix.warmup.jit_on_driver_cpus else ()
    return tuple(sorted({*setup.cpu_sets.sut, *extra}))


def _check_burn(setup: ForkSetup, connection: Connection) -> BurnCheck:
    answer = connection.get_json(f"/burn?rounds={setup.burn_rounds}&repeats={_BURN_REPEATS}")
    return BurnCheck(rounds=setup.burn_rounds, asked_us=setup.planned.key.burn_us, best_us=float(answer["best_us"]))


def _finish(setup: ForkSetup, draft: _Draft) -> Fork:
    rules = setup.matrix
    status = Status.FAILED if draft.failed else measured_status(draft.windows, draft.warmup, rules.thresholds)
    if status is Status.NOT_STEADY:
        draft.reasons.append(
            Reason(
                code="not-steady",
                message=why_not_steady(draft.warmup, rules.warmup) if draft.warmup else "no warm-up",
            )
        )
    if status is Status.INVALID:
        draft.reasons.append(too_few_valid(draft.windows))
    if draft.capacity and not is_known(draft.capacity):
        message = f"the search for the capacity came to no end: {draft.capacity.outcome}"
        draft.reasons.append(Reason(code="no-capacity", message=message))
    return Fork(
        fork=setup.planned.fork,
        position=setup.planned.position,
        sequence=setup.planned.sequence,
        status=status,
        reasons=tuple(draft.reasons),
        started_at=draft.started_at,
        ended_at=now_utc(),
        sut_command=draft.sut_command,
        driver_command=draft.driver_command,
        pinning=Pinning(
            sut_cpus=setup.cpu_sets.sut,
            driver_cpus=setup.cpu_sets.driver,
            method=setup.pinner.method,
            why_not_cgroup=setup.pinner.why_not_cgroup,
            overlapped=setup.cpu_sets.overlapped,
            compromises=tuple(given_up.message for given_up in setup.cpu_sets.compromises),
        ),
        first_response_s=draft.first_response_s,
        proof=draft.proof,
        burn_check=draft.burn_check,
        warmup=draft.warmup,
        windows=tuple(draft.windows),
        capacity=draft.capacity,
        samples=draft.sampler.samples if draft.sampler else (),
        logs=_logs(setup),
    )


def _logs(setup: ForkSetup) -> dict[str, str]:
    """What a reader may want to see. The driver's logs of the warm-up stay on disk, unlisted: there are dozens."""
    files = sorted(path for path in setup.log_dir.rglob("*") if path.is_file())
    names = [str(path.relative_to(setup.log_dir)) for path in files if not path.name.startswith("warmup-")]
    return {name: f"{setup.log_prefix}/{name}" for name in names}


def _code(error: MatrixError) -> str:
    return next((code for kind, code in _CODES if isinstance(error, kind)), "measurement")
