"""Measure an application on a server: start it, prove its executor, warm it, measure its windows, stop it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from jdkmatrix.config.model import Workload
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.domain.applications import DATABASE_URL, REMOTE_TIMEOUT_MS, REMOTE_URL
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CellLoad, SaturateLoad
from jdkmatrix.drivers.base import Driver, Target
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.affinity import allow_jit
from jdkmatrix.fork.database import PASSWORD_FILE, DatabaseProcess
from jdkmatrix.fork.fork_record import CellSetup, ForkDraft, Listener, Round
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.fork.resource_limits import ResourceLimits, limited
from jdkmatrix.fork.watchdog import FloodError, Watchdog, shorten_logs
from jdkmatrix.host.ending import check_not_stopped
from jdkmatrix.host.http import Connection, HttpError, NoAnswerError
from jdkmatrix.loads.base import Ask, LoadKind, answer_s
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.method.gate import WindowContext
from jdkmatrix.method.gates import beside_peers
from jdkmatrix.method.warmup import WarmupRules
from jdkmatrix.probes.clock_speed import mean_speed, read_clock_speeds
from jdkmatrix.probes.jcmd import dump_threads
from jdkmatrix.probes.memory import MemorySampler
from jdkmatrix.probes.sampler import Sampler
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.instance import Instance
from jdkmatrix.servers.process import HungError, LateStartError, ServerProcess
from jdkmatrix.servers.proof import prove_executor
from jdkmatrix.subjects.served.checks import BURN_REPEATS, audit_books, check_burn
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.observe import Bench
from jdkmatrix.subjects.served.outside import AnswerTimes, check_own, prove_from_outside
from jdkmatrix.subjects.served.warming import gate_of, lengths_of, settle, settling_window, warm
from jdkmatrix.subjects.served.windows import Windows, measure_phases

_QUIET_AFTER_S = 60.0
_REMOTE_PATIENCE_S = 30.0  # of our applications, by default
_QUIET_IN_BOX_S = 10.0
_PROOF_AT_ONCE_MAX = 4  # requests
_ENDING_S = 5.0  # a server that was asked to stop refuses requests before it is gone


@dataclass(frozen=True, kw_only=True)
class ServedCell(CellSetup):
    """An application on a server, under a load. `mix`: paths below the server's host and port; `own_answer_s`: how long
    the answers of a user's application take, whose work and waits no table tells."""

    load: CellLoad
    workload: Workload
    driver: Driver
    instance: Instance
    mix: RequestMix | None
    own_answer_s: float = 0.0

    @property
    def timeout_s(self) -> float:
        return self.matrix.timeout_s_of(self.workload)

    def knowing(self, answers: AnswerTimes) -> ServedCell:
        """Return the cell of a user's application with how long answers take; turns may be too short for them."""
        closed = self.load.in_windows.is_closed_loop
        takes_s = round(answers.typical_s if closed else answers.least_s, 3)
        why = self.why_no_turns or kind_of(self.load).why_no_turns(takes_s, self.matrix.turns)
        return replace(self, own_answer_s=takes_s, why_no_turns=why)

    def begin(self, fork: ForkDraft, listener: Listener) -> ServedMeasurement:
        return ServedMeasurement(self, fork, listener)


@dataclass
class ServedMeasurement:
    """A measurement that asks the server nothing between turns, which would disturb the others."""

    cell: ServedCell
    fork: ForkDraft
    listener: Listener
    found: Findings = field(default_factory=Findings)
    _remote: RemoteProcess | None = field(default=None, init=False)
    _database: DatabaseProcess | None = field(default=None, init=False)
    _windows: Windows = field(init=False, repr=False)  # once the server is warm
    _took_turns: bool = field(default=False, init=False)

    @contextmanager
    def opened(self, remote: RemoteProcess | None, database: DatabaseProcess | None) -> Iterator[None]:
        self._remote, self._database = remote, database
        instance, parts = self.cell.instance, self.cell.remote
        if remote and parts:
            remote.delay_at_most(self.cell.matrix.remote.warmup_delay_us_max)
            url = f"{remote.url}?{parts.answers.query(self._key.wait_us)}"
            # It is the driver that gives up, not the application.
            patience_s = max(_REMOTE_PATIENCE_S, self.cell.timeout_s)
            told = {REMOTE_URL: url, REMOTE_TIMEOUT_MS: str(round(patience_s * 1000))}
            instance = replace(instance, properties={**instance.properties, **told})
        if database:
            told = {DATABASE_URL: database.url, PASSWORD_FILE: str(database.password_file)}
            instance = replace(instance, properties={**instance.properties, **told})
        try:
            with self._served(instance.lay_out(self.fork.scratch, self.fork.log_dir)):
                yield
        except FloodError:
            shorten_logs(self.fork.log_dir)
            raise

    def rewarm(self, duration_s: float) -> None:
        bench, warmup = self._windows.bench, self.found.warmup
        with bench.sampler.looking(True):
            self._confine(bench.server)  # again: another's start may have widened the cgroup that both are in
            window = settling_window(bench, self.cell.load.in_windows, duration_s, label="rewarm")
        if warmup:
            self.found.warmup = warmup.model_copy(update={"settling": (*warmup.settling, window)})

    def measure(self, turn: Round | None) -> None:
        windows, load = self._windows, self.cell.load.in_windows
        with windows.bench.sampler.looking(True):
            if turn is None:
                measure_phases(self._kind, windows, lengths_of(self.cell.profile), self.found)
                return
            self._took_turns = True
            windows.bench.lead(load, turn.lead_s)
            number = turn.number
            title = f"round {number}/{turn.of}" if turn.of else f"window {number}"
            ask = Ask(load, turn.duration_s, f"round-{number}", f"{title}, {self._key.executor}", may_lead=False)
            self.found.windows.append(windows.measure(ask, index=number))

    def judged(self) -> tuple[Status, tuple[Reason, ...]]:
        return self.found.judged(self.cell.matrix.thresholds, self._warmup_rules)

    def record(self) -> dict[str, Any]:
        return vars(self.found)

    @property
    def _kind(self) -> LoadKind[Any]:
        return kind_of(self.cell.load)

    @property
    def _key(self) -> CellKey:
        return self.fork.planned.key

    @property
    def _service_s(self) -> float:
        return max(self._key.wait_us / 1e6, self.cell.own_answer_s)

    @property
    def _cpus(self) -> float:
        return self.cell.workload.cpus_of(self._key.cpus)

    @property
    def _answer_s(self) -> float:
        key = self._key
        told_s = answer_s(self.cell.load.in_windows, wait_us=key.wait_us, burn_us=key.burn_us, cpus=self._cpus)
        return max(told_s, self._service_s)

    @property
    def _warmup_rules(self) -> WarmupRules:
        return self.cell.matrix.warmup.within(self._cpus)

    @property
    def _jit_cpus(self) -> tuple[int, ...]:
        """The CPUs that the compiler may use until the server is warm."""
        cpus = self.cell.cpu_sets
        extra = cpus.driver if self.cell.matrix.warmup.jit_on_driver_cpus else ()
        return tuple(sorted({*cpus.sut, *extra}))

    @contextmanager
    def _served(self, launch: Launch) -> Iterator[None]:
        cell, rules = self.cell, self.cell.matrix.server
        self.fork.command = tuple(launch.command)
        with limited(cell.limits, cell.confiner.group("sut", self._jit_cpus)) as box:
            self.fork.limits = box.plan.enforced
            with (
                ServerProcess(
                    launch,
                    cpus=cell.cpu_sets.sut,
                    cgroups=box.cgroups,
                    open_files_max=box.plan.open_files_max,
                    rules=rules,
                ) as server,
                Watchdog(self.fork.log_dir, rules, server.kill) as watchdog,
            ):
                try:
                    with (
                        box.watch(server.pid, server.kill, started_ns=server.started_ns),
                        self._loaded(launch, server, box),
                    ):
                        yield
                    watchdog.check()
                    if not box.ended_it:
                        server.check_not_killed()
                    if cell.workload.limits is None or not box.outcomes("the server", _log_lines(launch)):
                        server.check_alive()
                except MatrixError as error:
                    # What followed from the end of the server or of its database is not the cause; nor is the end of
                    # the server, if we ended it.
                    watchdog.check()
                    if self._database:
                        self._database.check()
                    lives = isinstance(error, LateStartError | NoAnswerError)
                    if not box.ended_it:
                        server.check_not_killed(within_s=0 if lives else _ENDING_S)
                    server.check_alive()
                    if not lives:
                        raise
                    check_not_stopped("the server", server.pid)
                    self.listener.step("the server gives no answer: asking for its threads")
                    threads = dump_threads(server.pid, cell.instance.java, self.fork.log_dir)
                    server.kill()
                    if isinstance(error, LateStartError):
                        raise LateStartError(f"{error}\n{threads}") from None
                    raise HungError(f"the server hangs: {error}; {threads}") from None
                finally:
                    self.fork.outcomes = box.outcomes("the server", _log_lines(launch))
                self.listener.step("stopping the server")

    @contextmanager
    def _loaded(self, launch: Launch, server: ServerProcess, box: ResourceLimits) -> Iterator[None]:
        cell, found, key = self.cell, self.found, self._key
        rules, cpus = cell.matrix, cell.cpu_sets
        self.listener.step("starting the server")
        with ExitStack() as stack:
            # The driver starts alongside the server; each needs seconds for it.
            session = stack.enter_context(self.cell.driver.open(self._target(launch)))
            found.first_response_s = server.wait_ready(lambda pid: allow_jit(pid, self._jit_cpus))
            session.wait_ready()
            # The slowest question is the one for the fastest of several burns.
            timeout_s = rules.server.answer_timeout_s + BURN_REPEATS * key.burn_us / 1e6
            connection = stack.enter_context(Connection(launch.base_url, timeout_s=timeout_s))
            own = cell.workload.own
            sampler = stack.enter_context(
                Sampler(
                    server.pid,
                    launch.base_url,
                    started_ns=server.started_ns,
                    every_s=rules.measure.sample_s,
                    has_gauges=own is None,
                )
            )
            found.samples = sampler.samples
            if own:
                check_own(server, connection, cell.instance, own.example)
            else:
                found.proof = prove_executor(connection, base_of(key.executor), requests=rules.measure.proof_requests)
            may_end = self.cell.workload.limits is not None
            bench = Bench(
                server,
                session,
                sampler,
                connection,
                cpus,
                self._cpus,
                rules.server.answer_timeout_s,
                self._service_s,
                cell.host.irq_time_accounting,
                self._remote,
                self._database,
                may_end,
                box.quota,
                own.example if own else None,
            )
            try:
                if own:
                    self.listener.step("finding out from outside on which threads it serves")
                    # A pool whose growth is measured must not grow here.
                    at_once = min(_PROOF_AT_ONCE_MAX, cell.load.connections)
                    closed = SaturateLoad(connections=at_once if self._kind.grows_pool else cell.load.connections)
                    found.outside, bench.carriers = prove_from_outside(
                        server.pid,
                        base_of(key.executor),
                        own.example,
                        session,
                        closed,
                        java=cell.instance.java,
                        scratch=self.fork.scratch,
                    )
                self._warm(bench)
                self._windows = self._windows_on(bench)
                with self._memory(launch, server), sampler.looking(False):
                    yield
                    if self._took_turns and cell.load.in_windows.is_closed_loop:
                        found.windows[:] = beside_peers(found.windows, rules.thresholds)
                clock_speeds = read_clock_speeds(cpus.sut)
                self.fork.clock_speed_after = mean_speed(clock_speeds)
                if may_end and not server.is_alive:
                    return  # its outcome says why
                overloaded = self._kind.ended_overloaded(found.windows)
                if not overloaded:
                    # Each window begins with a question; this one finds a server that hung in the last window.
                    bench.ask(bench.question)
                    self._check_burn(connection, clock_speeds)
            finally:
                found.driver_command = tuple(session.command)
        if self.cell.workload.served.has_accounts:
            self._audit(server, may_be_late=may_end or overloaded, within_s=_QUIET_IN_BOX_S if may_end else None)

    def _warm(self, bench: Bench) -> None:
        cell = self.cell
        gate = gate_of(self._warmup_rules, cell.profile, self._kind, self._answer_s)
        self._block_at_most(bench.connection, cell.matrix.warmup.block_ms_max)
        self.found.warmup = warm(
            bench,
            cell.load,
            gate,
            cpus=self._cpus,
            burn_us=self._key.burn_us,
            jit_cpus=self._jit_cpus,
            before_load=self._uncut_delays,
            listener=self.listener,
        )
        self._confine(bench.server)
        if set(self._jit_cpus) != set(cell.cpu_sets.sut):
            settling = settle(bench, cell.load, gate, self.listener)
            self.found.warmup = self.found.warmup.model_copy(update={"settling": settling})
        if self._remote:
            self._remote.delay_at_most(None)
        self._block_at_most(bench.connection, None)

    def _block_at_most(self, connection: Connection, limit_ms: int | None) -> None:
        """Let no request block for longer than this from now on, if the application blocks its threads on purpose;
        None: each as long as it asks for."""
        if path := self.cell.workload.served.limit_path:
            query = "" if limit_ms is None else f"?at_most_ms={limit_ms}"
            status, body = connection.post(f"{path}{query}")
            if status != 200:
                said = body[:200].decode("utf-8", "replace").strip()
                raise HttpError(f"POST {path}{query}: status {status}: {said}")

    def _confine(self, server: ServerProcess) -> None:
        self.cell.confiner.confine(server.pid, self.cell.cpu_sets.sut)

    def _uncut_delays(self) -> None:
        """Lift the limit on delays, except for a ramp, which also measures how the server's pool gets the threads that
        long delays need; every other load is of a server that has them."""
        if self._remote and not self._kind.grows_pool:
            self._remote.delay_at_most(None)

    def _windows_on(self, bench: Bench) -> Windows:
        cell, cpus = self.cell, self.cell.cpu_sets
        means = WindowContext(
            service_s=self._service_s,
            heap_growth=self.cell.workload.memory_every_s is not None,
            remote_cpus=len(cpus.remote),
            sut_cpus=self._cpus,
            precision=cell.profile.promised_precision,
            p99_max_us=self._kind.p99_max_us,
        )
        return Windows(
            bench,
            base_of(self._key.executor),
            cell.matrix.thresholds,
            self.fork.log_prefix,
            self.listener,
            means,
            self._answer_s,
        )

    @contextmanager
    def _memory(self, launch: Launch, server: ServerProcess) -> Iterator[None]:
        every_s = self.cell.workload.memory_every_s
        if every_s is None:
            yield
            return
        instance = self.cell.instance
        with MemorySampler(
            server.pid, launch.base_url, instance.java, instance.vm, started_ns=server.started_ns, every_s=every_s
        ) as sampler:
            self.found.memory = sampler.readings
            yield

    def _check_burn(self, connection: Connection, clock_speeds: Mapping[int, float]) -> None:
        """Check the burn, a new kind of request, which before the windows would spoil them (see Bench.observe)."""
        rounds = self.cell.burn_rounds
        if rounds:
            self.found.burn_check = check_burn(
                connection,
                rounds=rounds,
                asked_us=self._key.burn_us,
                calibration=self.cell.calibration,
                clock_speeds_before=clock_speeds,
            )

    def _audit(self, server: ServerProcess, *, may_be_late: bool, within_s: float | None) -> None:
        self.listener.step("checking the books")
        try:
            self.found.audit = audit_books(
                server.base_url, is_alive=lambda: server.is_alive, within_s=within_s or _QUIET_AFTER_S
            )
        except HttpError as error:
            if not may_be_late:
                raise
            # A server that has burst its box, or drowns in its backlog, may have requests that are no longer served.
            self.fork.reasons.append(Reason(code="not-audited", message=f"the books could not be checked: {error}"))

    def _target(self, launch: Launch) -> Target:
        cell, key = self.cell, self._key
        burn = f"?burn_us={key.burn_us}" if key.burn_us else ""
        cpus = cell.cpu_sets.driver
        return Target(
            url=f"{launch.base_url}{launch.ready_path}{burn}",
            cpus=cpus,
            log_dir=self.fork.log_dir,
            timeout_s=cell.timeout_s,
            cgroup=cell.confiner.group("driver", cpus),
            requests=cell.mix,
            connections=cell.load.connections,
        )


def _log_lines(launch: Launch) -> Iterator[str]:
    for path in dict.fromkeys((launch.console_log, launch.messages_log)):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                yield from lines
        except OSError:
            continue  # the server ended before it wrote one
