"""Measure one fork: start the server, prove its executor, warm it, measure its windows, stop it.

Whatever happens is recorded: a fork that fails keeps what it had measured, its reason and its logs.
"""

from __future__ import annotations

import shutil
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from jdkmatrix.config.executors import base_of
from jdkmatrix.config.parts import Limits
from jdkmatrix.doctor.base import Host
from jdkmatrix.drivers.base import Target
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.limit_groups import limit_groups
from jdkmatrix.host.limits import plan_limits, read_limit_host
from jdkmatrix.measure.draft import Draft, ForkSetup, finish
from jdkmatrix.measure.faults import INTERNAL_ERROR, LostUpdateError, code_of
from jdkmatrix.measure.gates import Means, ended_overloaded
from jdkmatrix.measure.kernel import kernel_settings
from jdkmatrix.measure.limit_outcome import outcomes
from jdkmatrix.measure.limit_watch import LimitWatch
from jdkmatrix.measure.observe import Bench
from jdkmatrix.measure.phases import measure_phases
from jdkmatrix.measure.warming import settle, warm
from jdkmatrix.measure.warmup import Gate, ahead_s
from jdkmatrix.measure.watchdog import FloodError, Watchdog, shorten_logs
from jdkmatrix.measure.windows import Listener, Windows
from jdkmatrix.probes.clock_speed import read_clock_speed
from jdkmatrix.probes.memory import MemorySampler
from jdkmatrix.probes.sampler import Sampler, read_gauges
from jdkmatrix.records import Audit, BurnCheck, CapacityLoad, Fork, RampedLoad, Reason
from jdkmatrix.sut.affinity import allow_jit
from jdkmatrix.sut.applications import REMOTE_URL, application_of
from jdkmatrix.sut.blocking import block_at_most
from jdkmatrix.sut.http import Connection, HttpError, NoAnswerError
from jdkmatrix.sut.proof import ProofError, prove_executor
from jdkmatrix.sut.remote import RemoteProcess
from jdkmatrix.sut.server import HungError, Launch, ServerProcess
from jdkmatrix.sut.threads import dump_threads

_BURN_REPEATS = 50
_QUIET_AFTER_S = 60.0
_QUIET_IN_BOX_S = 10.0
_QUIET_POLL_S = 0.25


def measure_fork(setup: ForkSetup, listener: Listener) -> Fork:
    """Never raises for what can go wrong with a server or a driver: that is a result. Ctrl-C passes through, with
    all processes ended."""
    draft = Draft()
    try:
        with (
            kernel_settings(Host(root=Path("/"), results=setup.log_dir), setup.kernel),
            _remote(setup, draft) as remote,
        ):
            instance = setup.instance
            if setup.remote and remote:
                url = f"{remote.url}?{setup.remote.answers.query(setup.planned.key.wait_us)}"
                instance = replace(instance, properties={**instance.properties, REMOTE_URL: url})
            _measure(setup, instance.lay_out(setup.scratch, setup.log_dir), remote, draft, listener)
    except MatrixError as error:
        draft.fail(code_of(error), str(error), figures=error.figures if isinstance(error, ProofError) else None)
        if isinstance(error, FloodError):
            shorten_logs(setup.log_dir)
    except Exception as error:
        draft.fail(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        (setup.log_dir / "traceback.txt").write_text(traceback.format_exc())
    finally:
        shutil.rmtree(setup.scratch, ignore_errors=True)
    return finish(setup, draft)


@contextmanager
def _remote(setup: ForkSetup, draft: Draft) -> Iterator[RemoteProcess | None]:
    """The remote system, ready, with its delays cut; None where the server calls none."""
    parts = setup.remote
    if parts is None:
        yield None
        return
    cpus = setup.cpu_sets.remote
    cgroup = setup.pinner.group("remote", cpus)
    with RemoteProcess(parts.jar, parts.java, cpus=cpus, log_dir=setup.log_dir, cgroup=cgroup) as remote:
        draft.remote_command = tuple(remote.command)
        remote.wait_ready()
        remote.delay_at_most(setup.matrix.remote.warmup_delay_us_max)
        yield remote


def _measure(setup: ForkSetup, launch: Launch, remote: RemoteProcess | None, draft: Draft, listener: Listener) -> None:
    draft.sut_command = tuple(launch.command)
    rules = setup.matrix.server
    limits = setup.workload.limits or Limits()
    pinned = setup.pinner.group("sut", _jit_cpus(setup))
    plan = plan_limits(limits, read_limit_host(pinned))
    draft.limits = plan.enforced
    with (
        limit_groups(plan, pinned) as groups,
        ServerProcess(
            launch,
            cpus=setup.cpu_sets.sut,
            cgroups=[*([pinned] if pinned else []), *groups.folders],
            open_files_max=plan.open_files_max,
            rules=rules,
        ) as server,
        Watchdog(setup.log_dir, rules, server.kill) as watchdog,
    ):
        watch = LimitWatch(server.pid, plan, groups.counters, server.kill, started_ns=server.started_ns)
        try:
            with watch:
                _load(setup, launch, server, remote, draft, listener)
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
        finally:
            if plan.enforced:
                draft.outcomes = outcomes(
                    who="the server",
                    limits=limits,
                    counters=watch.counters,
                    seen=watch.seen,
                    log_lines=_log_lines(launch),
                )
        listener.step("stopping the server")


def _load(
    setup: ForkSetup,
    launch: Launch,
    server: ServerProcess,
    remote: RemoteProcess | None,
    draft: Draft,
    listener: Listener,
) -> None:
    rules = setup.matrix
    key = setup.planned.key
    listener.step("starting the server")
    jit_cpus = _jit_cpus(setup)
    with ExitStack() as stack:
        # The driver starts while the server does; each needs seconds for it.
        session = stack.enter_context(setup.driver.open(_target(setup, launch)))
        draft.first_response_s = server.wait_ready(lambda pid: allow_jit(pid, jit_cpus))
        session.wait_ready()
        # The slowest question is that for the fastest of some burns.
        timeout_s = rules.server.answer_timeout_s + _BURN_REPEATS * key.burn_us / 1e6
        connection = stack.enter_context(Connection(launch.base_url, timeout_s=timeout_s))
        sampler = stack.enter_context(
            Sampler(server.pid, launch.base_url, started_ns=server.started_ns, every_s=rules.measure.sample_s)
        )
        draft.sampler = sampler
        draft.proof = prove_executor(connection, base_of(key.executor), requests=rules.measure.proof_requests)
        may_end = setup.workload.limits is not None
        bench = Bench(
            server,
            session,
            sampler,
            connection,
            setup.cpu_sets,
            rules.server.answer_timeout_s,
            setup.irq_time_accounting,
            remote,
            may_end,
        )
        limit_path = application_of(setup.workload.application).limit_path
        try:
            if limit_path:
                block_at_most(connection, limit_path, rules.warmup.block_ms_max)
            draft.warmup = warm(
                bench,
                key,
                setup.load,
                _gate(setup),
                jit_cpus=jit_cpus,
                before_load=lambda: _uncut_delays(setup, remote),
                listener=listener,
            )
            setup.pinner.confine(server.pid, setup.cpu_sets.sut)
            if set(jit_cpus) != set(setup.cpu_sets.sut):
                settling = settle(bench, setup.load, rules.warmup, listener)
                draft.warmup = draft.warmup.model_copy(update={"settling": settling})
            if remote:
                remote.delay_at_most(None)
            if limit_path:
                block_at_most(connection, limit_path, None)
            with _memory(setup, launch, server, draft):
                _measure_phases(setup, bench, draft, listener)
            draft.clock_speed_after = read_clock_speed(setup.cpu_sets.sut[-1])
            if may_end and not server.is_alive:
                return  # its outcome says why
            overloaded = ended_overloaded(
                setup.load, draft.windows, setup.matrix.thresholds, service_s=_service_s(setup)
            )
            if not overloaded:
                # Each window begins with a question; a server that hangs in the last one is found by this one.
                connection.get("/gauges")
                # A request of a new kind: before the windows it would spoil them (Bench.observe says how).
                if setup.burn_rounds:
                    draft.burn_check = _check_burn(setup, connection, draft.clock_speed_after)
        finally:
            draft.driver_command = tuple(session.command)
    if setup.workload.application == "banking":
        listener.step("checking the books")
        try:
            draft.audit = _audited(launch, within_s=_QUIET_IN_BOX_S if may_end else _QUIET_AFTER_S)
        except HttpError as error:
            if not (may_end or overloaded):
                raise
            # A server that has burst its box, or drowns in its backlog, may have requests that nobody serves any more.
            draft.reasons.append(Reason(code="not-audited", message=f"the books could not be checked: {error}"))


def _uncut_delays(setup: ForkSetup, remote: RemoteProcess | None) -> None:
    """A ramp measures, too, how the server's pool comes by the threads that long delays need; every other load is of a
    server that has them."""
    if remote and not isinstance(setup.load, RampedLoad):
        remote.delay_at_most(None)


def _service_s(setup: ForkSetup) -> float:
    return setup.planned.key.wait_us / 1e6


def _measure_phases(setup: ForkSetup, bench: Bench, draft: Draft, listener: Listener) -> None:
    draft.capacity = measure_phases(
        setup.load,
        Windows(
            bench,
            base_of(setup.planned.key.executor),
            setup.matrix.thresholds,
            setup.log_prefix,
            listener,
            Means(
                service_s=_service_s(setup),
                heap_growth=setup.workload.memory_every_s is not None,
                remote_cpus=len(setup.cpu_sets.remote),
                sut_cpus=len(setup.cpu_sets.sut),
                precision=setup.precision,
                p99_max_us=setup.load.p99_max_us if isinstance(setup.load, CapacityLoad) else None,
            ),
        ),
        count=setup.windows,
        window_s=setup.window_s,
        done=draft.windows,
    )


@contextmanager
def _memory(setup: ForkSetup, launch: Launch, server: ServerProcess, draft: Draft) -> Iterator[None]:
    every_s = setup.workload.memory_every_s
    if every_s is None:
        yield
        return
    instance = setup.instance
    with MemorySampler(
        server.pid, launch.base_url, instance.java, instance.vm, started_ns=server.started_ns, every_s=every_s
    ) as sampler:
        draft.memory = sampler
        yield


def _target(setup: ForkSetup, launch: Launch) -> Target:
    key = setup.planned.key
    burn = f"?burn_us={key.burn_us}" if key.burn_us else ""
    return Target(
        url=f"{launch.base_url}{launch.ready_path}{burn}",
        cpus=setup.cpu_sets.driver,
        log_dir=setup.log_dir,
        timeout_s=setup.workload.timeout_s or setup.matrix.driver.timeout_s,
        cgroup=setup.pinner.group("driver", setup.cpu_sets.driver),
        requests=setup.mix,
    )


def _audited(launch: Launch, *, within_s: float) -> Audit:
    """The books when nothing is in flight any more: what the driver gave up may still wait for the remote system.

    Raises:
        LostUpdateError: money was made or lost.
        HttpError: the server does not come to rest, or does not say.
    """
    with Connection(launch.base_url, timeout_s=within_s) as connection:
        until = time.monotonic() + within_s
        while (gauges := read_gauges(connection)) is None or gauges.in_flight:
            if time.monotonic() > until:
                raise HttpError(f"requests are still in flight {within_s:.0f} s after the load")
            time.sleep(_QUIET_POLL_S)
        answer = connection.get_json("/audit")
    try:
        audit = Audit.model_validate(answer)
    except ValidationError as error:
        raise HttpError(f"/audit: {error.error_count()} wrong fields: {error.errors()[0]['loc']}") from None
    if not audit.conserved:
        raise LostUpdateError(
            f"money was not conserved: the accounts hold {audit.balance_sum_minor:,}, and {audit.expected_sum_minor:,} "
            f"were paid in; {audit.contradictions:,} accounts contradict their own credits and debits"
        )
    return audit


def _log_lines(launch: Launch) -> Iterator[str]:
    for path in (launch.console_log, launch.messages_log):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                yield from lines
        except OSError:
            continue  # the server ended before it wrote one


def _gate(setup: ForkSetup) -> Gate:
    ahead = ahead_s(setup.load, windows=setup.windows, window_s=setup.window_s)
    return Gate(setup.matrix.warmup, ahead, setup.precision)


def _jit_cpus(setup: ForkSetup) -> tuple[int, ...]:
    """Where the compiler may run until the server is warm."""
    extra = setup.cpu_sets.driver if setup.matrix.warmup.jit_on_driver_cpus else ()
    return tuple(sorted({*setup.cpu_sets.sut, *extra}))


def _check_burn(setup: ForkSetup, connection: Connection, clock_speed_before: float | None) -> BurnCheck:
    """The faster of two readings around it is the clock of that moment: what disturbs one makes it slower."""
    answer = connection.get_json(f"/burn?rounds={setup.burn_rounds}&repeats={_BURN_REPEATS}")
    after = read_clock_speed(setup.cpu_sets.sut[-1])
    calibrated = setup.calibration.clock_speed if setup.calibration else None
    now = max(clock_speed_before, after) if clock_speed_before and after else None
    asked_us = setup.planned.key.burn_us
    return BurnCheck(
        rounds=setup.burn_rounds,
        asked_us=asked_us,
        best_us=float(answer["best_us"]),
        expected_us=asked_us * calibrated / now if calibrated and now else None,
    )
