"""Apply the command line's selection to matrix.toml."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from jdkmatrix.config.assemble import Tables, is_made
from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.config.sizes import why_no_size
from jdkmatrix.domain.cell_key import NO_SERVER
from jdkmatrix.domain.executors import aa_arm, base_of, check_executor, first_arm, is_aa_arm, tuning_of
from jdkmatrix.domain.servers import COMMAND, own_pool, virtual_of
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.run.asked import with_values
from jdkmatrix.run.plan import axis_values, cells_of
from jdkmatrix.stats.stopping import FEWEST_BLOCKS
from jdkmatrix.subjects.kinds import kind_of
from jdkmatrix.validation import explain, unknown

Rule = TypeVar("Rule", bound=Selection)
_OF_PROTOCOL = ("blocks", "max_blocks", "precision", "windows", "window_s", "protocol", "rounds")


@dataclass(frozen=True)
class Options:
    """`values`: what the cells must have, by axis; `aa`: one executor, twice; what is None stays as the profile says.
    `blocks` alone fixes their number; without `stop_early`, the profile's blocks are measured and none is added.
    `seed`: for the order of forks; None: one is to be drawn. `given`: the command-line options that say all this."""

    profile: str
    values: Mapping[str, tuple[str | int, ...]]
    blocks: int | None = None
    max_blocks: int | None = None
    precision: float | None = None
    stop_early: bool = True
    windows: int | None = None
    window_s: float | None = None
    protocol: Literal["interleaved", "separate"] | None = None
    rounds: int | None = None
    seed: int | None = None
    aa: str | None = None
    scenario: str | None = None  # instead of a profile
    scale: Literal["auto", "article", "small"] = "auto"
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # needed for all this, and not in matrix.toml
    quotas_cpus: tuple[float, ...] = ()
    arms: tuple[str, ...] = ()  # executors among the values that have options of their own, by --arm
    given: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # one that asks the same; empty: as typed

    def with_quotas(self, matrix: Matrix) -> Options:
        """Add the table of a variant of each workload for each quota of CPU time, which is a limit of its server.

        Raises:
            MatrixError: an unknown profile, or an experiment without a server.
        """
        if not self.quotas_cpus:
            return self
        if self.scenario is not None:
            raise MatrixError("--cpu-quota is for a profile: a published experiment has the limits that were published")
        self._check_profile(matrix)
        profiles = (matrix.profiles[stage] for stage in matrix.stages(self.profile))
        rules = (rule for one in profiles for rule in (one.select, *(rule for rule in one.include if rule.workload)))
        selected = (name for rule in rules for name in axis_values(matrix, rule, "workload"))
        variants = {}
        for name in map(str, self.values.get("workload") or dict.fromkeys(selected)):
            if name in matrix.experiments:
                raise MatrixError(f"--cpu-quota: {name} has no server to give a quota to")
            for cpus in self.quotas_cpus:
                variants[_with_quota(name, cpus)] = {"extends": name, "limits": {"cpu_quota_cpus": cpus}}
        tables = {**self.tables, "workloads": {**self.tables.get("workloads", {}), **variants}}
        return replace(self, tables=tables)

    @property
    def asked(self) -> Mapping[str, tuple[str | int, ...]]:
        """The values that the command line asks for, by axis. Raises: MatrixError: --aa beside --executor."""
        if self.aa is None and self.added:
            return {**self.values, "executor": (*self.added, *self.values["executor"])}
        if self.aa is None:
            return self.values
        if "executor" in self.values:
            raise MatrixError("--aa measures one executor twice, so --executor and --arm cannot be combined with it")
        return {**self.values, "executor": (self.aa, aa_arm(self.aa))}

    @property
    def added(self) -> tuple[str, ...]:
        """The executors that arms with options of their own are compared with, where nothing else asks for them."""
        given = self.values.get("executor", ())
        return tuple(dict.fromkeys(base for arm in self.arms if (base := base_of(arm)) not in given))

    def apply(self, matrix: Matrix) -> Matrix:
        """Return the matrix with the values and the protocol of the profile, and of those measured before it, replaced
        where asked. `matrix` has the values on its axes.

        Raises:
            MatrixError: an unknown profile, or values with which there can be no cell.
        """
        self._check_profile(matrix)
        matrix = with_values(matrix, self.profile, self.asked, everywhere=() if self.aa is None else ("executor",))
        self._check_pools(matrix)
        names = matrix.stages(self.profile)
        stages = {name: self._protocol(self._boxed(matrix, matrix.profiles[name])) for name in names}
        stages = {name: _fork_after_fork_if_alone(matrix, name, profile) for name, profile in stages.items()}
        applied = matrix.model_copy(update={"profiles": {**matrix.profiles, **stages}})
        alone = [reason for name in names for reason in _why_no_turns(applied, name)]
        if self.max_blocks is not None and all(cell.server == NO_SERVER for cell in cells_of(applied, self.profile)):
            raise MatrixError("--max-blocks: no ratio says when experiments without a server have enough; use --blocks")
        if self.rounds is not None and None not in alone:
            raise MatrixError(f"--rounds is for forks that take turns: {'; '.join(dict.fromkeys(filter(None, alone)))}")
        unused = [option for option, value in (("--windows", self.windows), ("--window-s", self.window_s)) if value]
        if unused and not any(alone):
            raise MatrixError(
                f"{' and '.join(unused)}: every cell of {self.profile} takes turns, in --rounds of a fixed length; "
                "windows are for --protocol separate"
            )
        return applied

    def order_seed(self) -> int:
        """Return the seed that was asked for, or a new one."""
        return secrets.randbits(32) if self.seed is None else self.seed

    def _boxed(self, matrix: Matrix, profile: Profile) -> Profile:
        """Replace each workload by its variants, one for each quota."""
        if not self.quotas_cpus:
            return profile

        def boxed(rule: Rule, *, always: bool = False) -> Rule:
            if rule.workload is None and not always:
                return rule
            names = map(str, axis_values(matrix, rule, "workload"))
            variants = (_with_quota(name, cpus) for name in names for cpus in self.quotas_cpus)
            return rule.model_copy(update={"workload": tuple(name for name in variants if name in matrix.workloads)})

        return profile.model_copy(
            update={
                "select": boxed(profile.select, always=True),
                "exclude": tuple(map(boxed, profile.exclude)),
                "include": tuple(map(boxed, profile.include)),
            }
        )

    def _check_pools(self, matrix: Matrix) -> None:
        """Raises: MatrixError: a server that is asked for has another pool than the profile compares."""
        if "server" not in self.values or "executor" in self.asked:
            return
        cells = tuple(cells_of(matrix, self.profile))
        for server in map(str, self.values["server"]):
            pool, found = own_pool(server), dict.fromkeys(cell.executor for cell in cells if cell.server == server)
            if pool not in found:
                raise MatrixError(
                    f"--server {server}: of the executors of {self.profile} it has only {', '.join(found)}; say which "
                    f"to compare: --executor {pool} --executor {virtual_of(server)}"
                )

    def _check_profile(self, matrix: Matrix) -> None:
        """Raises: MatrixError: it is unknown."""
        if self.profile not in matrix.profiles:
            if self.profile in matrix.scenarios:
                raise MatrixError(f"--profile: {self.profile} is a published experiment: use --scenario {self.profile}")
            raise MatrixError(f"--profile: {unknown(self.profile, matrix.profiles)}")

    def _protocol(self, profile: Profile) -> Profile:
        changed = {name: value for name in _OF_PROTOCOL if (value := getattr(self, name)) is not None}
        fixed: dict[str, int | None] = {}
        if "rounds" in changed:
            fixed["max_rounds"] = None
        if "blocks" in changed:
            fixed["max_blocks"] = None  # unless it is changed, too
            everywhere = tuple(rule.model_copy(update={"blocks": None}) for rule in profile.include)
            profile = profile.model_copy(update={"include": everywhere})
        if not self.stop_early:
            if self.max_blocks is not None or self.precision is not None:
                raise MatrixError("--no-stopping adds no blocks, so --max-blocks and --precision have no meaning")
            fixed["max_blocks"] = None
        if self.max_blocks is not None and self.blocks is None:
            fixed["blocks"] = max(profile.blocks, FEWEST_BLOCKS)
        profile = profile.model_copy(update=fixed | changed)
        _check_ranges(profile)
        self._check_most(profile)
        if profile.max_blocks is None and self.precision is not None:
            raise MatrixError(
                "--precision says when to stop adding blocks; also give their maximum, such as --max-blocks 20"
            )
        _ = profile.stopping
        return profile

    def _check_most(self, profile: Profile) -> None:
        """Raises: MatrixError, with the option to give instead."""
        if self.max_blocks is not None and self.blocks is not None and self.blocks < FEWEST_BLOCKS:
            raise MatrixError(
                f"--blocks {self.blocks}: with --max-blocks, at least {FEWEST_BLOCKS} are needed before more are added"
            )
        least = max(profile.blocks, FEWEST_BLOCKS)
        if self.max_blocks is not None and self.max_blocks < least:
            raise MatrixError(
                f"--max-blocks {self.max_blocks}: blocks are added after the first {least}, so at least {least} "
                f"are needed; --blocks {self.max_blocks} alone measures exactly {self.max_blocks}"
            )


def _with_quota(workload: str, cpus: float) -> str:
    return f"{workload}-quota-{round(cpus * 1000)}m"


def _check_ranges(profile: Profile) -> None:
    """Raises: MatrixError: an option has set what a file may not say, with which no run could go on."""
    try:
        Profile.model_validate(profile.model_dump())
    except ValidationError as error:
        problems = (problem.replace("_", "-", 1) for problem in explain(error, Profile))
        raise MatrixError("; ".join(f"--{problem}" for problem in problems)) from None


def _fork_after_fork_if_alone(matrix: Matrix, name: str, profile: Profile) -> Profile:
    """Measure fork after fork where nothing is compared, since there is nobody to take turns with."""
    if not profile.in_turns:
        return profile
    applied = matrix.model_copy(update={"profiles": {**matrix.profiles, name: profile}})
    groups = Counter(cell.group for cell in set(cells_of(applied, name)))
    return profile if max(groups.values(), default=2) > 1 else profile.model_copy(update={"protocol": "separate"})


def _why_no_turns(matrix: Matrix, profile: str) -> list[str | None]:
    """Return, for each of its cells, why its forks take no turns; None where they do."""
    of_all = None if matrix.profiles[profile].in_turns else "--protocol interleaved, where executors are compared"
    return [of_all or kind_of(matrix, cell).why_no_turns(matrix, cell) for cell in cells_of(matrix, profile)]


def check_values(files: Mapping[str, Tables], matrix: Matrix, options: Options, pinned: Iterable[str]) -> None:
    """Check what `options` ask for. `files`: what `matrix` was made from; `pinned`: the JDKs of the catalogue.

    Raises:
        MatrixError: a value that is unknown, or no name for one; says what is allowed.
    """

    def names(table: str) -> list[str]:
        """Return the names in a table of all files, templates as they are written: "saturate-N"."""
        return [*(name for tables in files.values() for name in tables.get(table, {})), *options.tables.get(table, ())]

    def check(where: str, value: str, allowed: Collection[str], sized: str = "") -> None:
        """`sized`: the table, if its names may contain a number."""
        if sized and (problem := why_no_size(files, sized, value)):
            raise MatrixError(f"{where}: {problem}")
        if not is_made(value, allowed):
            raise MatrixError(f"{where}: {unknown(value, allowed)}{'; N stands for a number' if sized else ''}")

    known: dict[str, tuple[Collection[str], str]] = {
        "workload": ([*names("workloads"), *matrix.workloads, *matrix.experiments], "workloads"),
        "server": ([*matrix.servers, COMMAND], ""),
        "jdk": ([*pinned, *names("jdk_homes")], ""),
        "load": (names("loads"), "loads"),
    }
    for axis, (allowed, sized) in known.items():
        for value in map(str, options.values.get(axis, ())):
            check(f"--{axis}", value, allowed, sized)
    if options.aa and is_aa_arm(options.aa):
        raise MatrixError(f"--aa {options.aa}: give the executor itself, {first_arm(options.aa)}")
    for executor in map(str, options.asked.get("executor", ())):
        by_arm = executor in (*options.added, *options.arms)
        where = "--aa" if options.aa is not None else "--arm" if by_arm else "--executor"
        with refused(where, of=ValueError):
            check_executor(executor)
        if tuning := tuning_of(executor):
            check(f"{where} {executor}", tuning, names("tunings"), "tunings")
