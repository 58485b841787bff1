"""Scenarios on the command line: which size of a published experiment this host can handle, and what was published."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from rich import box
from rich.table import Table

from jdkmatrix.claims.load import load_claims
from jdkmatrix.claims.model import Registry
from jdkmatrix.claims.words import amount, of_whom, reproduced_by, source_line, without_figures
from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.own import own_applications, with_own
from jdkmatrix.cli.selecting import Options, check_values
from jdkmatrix.cli.terminal import escape
from jdkmatrix.config.load import load_matrix, parse_files, read_files
from jdkmatrix.config.model import SCALES, Matrix, ScaleName
from jdkmatrix.domain.executors import aa_arm, base_of, reference, references
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.servers import COMMAND, own_pool, virtual_of
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.host.facts import memory_bytes
from jdkmatrix.host.topology import Topology, read_topology
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.provision.own import check_own_files
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.records.run import ScenarioRecord
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.impossible import too_few_cpus
from jdkmatrix.run.plan import cells_of, estimate_s, make_plan, select_cells
from jdkmatrix.validation import told, unknown

IN_TURN = "in-turn"
_DAY_S = 86_400
_WEEK_S = 7 * _DAY_S


@dataclass(frozen=True)
class Chosen:
    """The matrix and options of a run. `why`: what to tell the user: why this scale of a scenario, which executors are
    added, and that nothing is compared; None if there is nothing to tell."""

    matrix: Matrix
    options: Options
    scenario: ScenarioRecord | None
    why: str | None


def choose(matrix: Matrix, options: Options, topology: Topology, memory: int) -> Chosen:
    """Turn the scenario that `options` name into a profile of the matrix; without one, everything stays as it is.

    Scale "auto" means the published size if the host has the CPUs for every cell and the memory, else the small one.

    Raises:
        MatrixError: no such scenario.
    """
    if options.scenario is None:
        return Chosen(matrix, options, None, None)
    if options.scenario not in matrix.scenarios:
        if options.scenario in matrix.profiles:
            raise MatrixError(f"--scenario: {options.scenario} is a profile: use --profile {options.scenario}")
        raise MatrixError(f"--scenario: {unknown(options.scenario, matrix.scenarios)}")
    scenario = matrix.scenarios[options.scenario]
    scale: ScaleName
    if options.scale != "auto":
        scale, why = options.scale, "as requested"
    elif missing := next(iter(cannot(matrix, options.scenario, "article", topology, memory)), None):
        scale, why = "small", f"the published size is too large for this host: {missing}"
    else:
        scale, why = "article", "it fits this host"
    named, profile = as_profile(matrix, options.scenario, scale)
    size = scenario.size(scale)
    return Chosen(
        matrix=named,
        options=replace(options, profile=profile, scenario=None),
        scenario=ScenarioRecord(
            name=options.scenario,
            scale=scale,
            scale_words=size.words,
            description=scenario.description,
            published=(),  # filled in with `claims`, once these are read
            claims=(),
        ),
        why=f"scale {scale} ({why}): {size.words}",
    )


def in_turn(names: Sequence[str], seconds: float) -> str:
    """Return the name of the week, at `seconds` since the Unix epoch; adding a scenario shifts the turns. A week begins
    on Wednesday (the epoch did on Thursday), when the schedule asks for one: it may be measured days later."""
    return names[int((seconds + _DAY_S) // _WEEK_S) % len(names)]


def _by_name(word: str, name: str) -> str:
    """Replace "in-turn" in a word of the command line by the scenario, since it means another one in another week."""
    return word.replace(IN_TURN, name) if word in (IN_TURN, f"--scenario={IN_TURN}", f"-s{IN_TURN}") else word


def asked_here(project: Project, options: Options) -> tuple[Matrix, Options]:
    """Return the project's matrix with all values that `options` ask for, and the options with what follows from the
    user's own application.

    Raises:
        MatrixError: as load_matrix, check_own_files, with_own, Options.with_quotas and check_values; or a JDK on the
            axis that is pinned nowhere.
    """
    files = read_files(project.matrix)
    matrix = parse_files(files)
    pinned = [entry.id for entry in load_catalogue(project.jdks).entries]
    if lost := [jdk for jdk in matrix.axes.jdk if jdk not in (*pinned, *matrix.jdk_homes)]:
        raise told([(str(project.matrix), f"axes.jdk: {unknown(lost[0], pinned)}")])
    for name, own in own_applications(options, matrix).items():
        file = next((file for file, tables in files.items() if name in tables.get("workloads", {})), None)
        with refused(f"{file}: workloads.{name}.own", of=MatrixError) if file else nullcontext():
            check_own_files(own, project.root)
    options = with_own(options, matrix).with_quotas(matrix)
    if options.asked or options.quotas_cpus:
        check_values(files, matrix, options, pinned)
        matrix = parse_files(files, options.asked, options.tables)
    return matrix, options


def chosen_here(project: Project, options: Options) -> Chosen:
    """Return what `options` ask for, on this host. Raises: MatrixError: as asked_here and chosen_of."""
    return chosen_of(project, *asked_here(project, options))


def chosen_of(project: Project, matrix: Matrix, options: Options) -> Chosen:
    """Apply what asked_here returned on this host: the profile, or the scenario with its published claims, and the
    protocol that `options` change.

    Raises:
        MatrixError: as choose, Options.apply and, for a scenario, load_claims.
    """
    if options.scenario == IN_TURN and matrix.scenarios:
        name = in_turn(tuple(matrix.scenarios), time.time())
        options = replace(options, scenario=name, command=tuple(_by_name(word, name) for word in sys.argv))
    chosen = choose(matrix, options, read_topology(), memory_bytes())
    scenario = chosen.scenario
    if scenario:
        registry = load_claims(project.published, matrix.scenarios)
        ids = registry.repeated_by(scenario.name)
        scenario = scenario.model_copy(update={"published": ids, "claims": registry.records(ids)})
    applied = chosen.options.apply(chosen.matrix)
    said = [*([chosen.why] if chosen.why else []), *_words_of_arms(applied, chosen.options)]
    return replace(chosen, matrix=applied, scenario=scenario, why="\n".join(said) or None)


def _words_of_arms(matrix: Matrix, options: Options) -> Iterator[str]:
    """Say which executors are added, since arms with options of their own are compared with them; and that nothing is
    compared, where the command line or the user's own application chooses executors. `matrix` has what is selected."""
    for plain in options.added:
        arms = ", ".join(arm for arm in options.arms if base_of(arm) == plain)
        yield f"{plain} is measured, too, as the reference for {arms}."
    if "executor" not in options.asked:
        return
    groups = grouped((cell.group, cell.executor) for cell in set(cells_of(matrix, options.profile)))
    if groups and options.aa is None and all(_is_alone(names, group.server) for group, names in groups.items()):
        yield (
            "The command is compared only with itself: add --arm virtual=OPTIONS, the options that make it serve on "
            "virtual threads."
        )
    if not groups or any(_has_pair(names, group.server) for group, names in groups.items()):
        return
    group, names = next(iter(groups.items()))
    missing = "another --executor"
    if group.workload in matrix.workloads:
        base = reference(names[0], group.server)
        other = virtual_of(group.server) if base in names else base
        if matrix.why_no_cell(group.model_copy(update={"executor": other})):
            other = aa_arm(base)  # such as on a server without virtual threads of ours
        missing = f"--executor {other}"
    only = f"there is only {names[0]}" if len(names) == 1 else f"there are only {' and '.join(sorted(names))}"
    yield f"No executors are compared: {only}; add {missing}."


def _is_alone(names: list[str], server: str) -> bool:
    """Return whether nothing of a command is measured but its pool and the pool's A/A check."""
    return server == COMMAND and {*names} == {own_pool(server), aa_arm(own_pool(server))}


def _has_pair(names: list[str], server: str) -> bool:
    return any(base != name and base in names for name, base in references(names, server).items())


def as_profile(matrix: Matrix, name: str, scale: ScaleName) -> tuple[Matrix, str]:
    """Return the matrix with that scale of the scenario as one more profile, and the profile's name."""
    profile = f"{name}.{scale}"
    profiles = {**matrix.profiles, profile: matrix.scenarios[name].profile(scale)}
    return matrix.model_copy(update={"profiles": profiles}), profile


def cannot(matrix: Matrix, name: str, scale: ScaleName, topology: Topology, memory: int) -> Iterable[str]:
    """Yield why this host cannot measure every cell of that scale."""
    named, profile = as_profile(matrix, name, scale)
    yield from dict.fromkeys(too_few_cpus(named, select_cells(named, profile), topology).values())
    size = matrix.scenarios[name].size(scale)
    if memory < size.memory_bytes_min:
        has = memory * 10 // 2**30 / 10
        yield f"it needs {size.memory_bytes_min / 2**30:g} GiB of memory, and this host has {has:g}"


def show(only: str | None) -> None:
    """Print a line for every scenario, with the time of both sizes, and which statements no scenario repeats; or one
    alone (`only`) with both sizes, what this host cannot measure of them, and what was published about it.

    Raises:
        MatrixError: no such scenario, or as load_matrix and load_claims.
    """
    project = find_project()
    matrix = load_matrix(project.matrix)
    registry = load_claims(project.published, matrix.scenarios)
    console = console_here()
    if only is None:
        console.print(_table(matrix))
        ids = ", ".join(claim.id for claim in registry.not_repeated())
        lines: Iterable[str] = ("matrix scenarios NAME: its sizes, and what was published", f"not repeated: {ids}")
    elif only in matrix.scenarios:
        lines = _one(matrix, registry, only)
    else:
        raise MatrixError(f"scenario {unknown(only, matrix.scenarios)}")
    for line in lines:
        console.print(escape(line), soft_wrap=True, highlight=False)


def _table(matrix: Matrix) -> Table:
    topology, memory = read_topology(), memory_bytes()
    table = Table(box=box.SIMPLE_HEAD, caption="*: not all of it fits this host", caption_justify="left")
    for heading in ("scenario", "small", "published", "what"):
        table.add_column(heading, no_wrap=heading != "what")
    for name, scenario in matrix.scenarios.items():
        marks = {size: "*" if [*cannot(matrix, name, size, topology, memory)] else "" for size in SCALES}
        times = {size: f"{_time(matrix, name, size)}{mark}" for size, mark in marks.items()}
        table.add_row(f"[bold]{escape(name)}", times["small"], times["article"], escape(scenario.description))
    return table


def _one(matrix: Matrix, registry: Registry, name: str) -> Iterator[str]:
    topology, memory = read_topology(), memory_bytes()
    scenario = matrix.scenarios[name]
    yield f"{name}: {scenario.description}"
    for scale in SCALES:
        missing = "; ".join(cannot(matrix, name, scale, topology, memory))
        fits = f". Not all of it fits: {missing}" if missing else ""
        yield f"  {scale}, {_time(matrix, name, scale)}: {scenario.size(scale).words}{fits}"
    for claim in registry.records(registry.repeated_by(name)):
        yield from claim_lines(claim)


def claim_lines(claim: ClaimRecord) -> Iterator[str]:
    """Yield the lines that show one published claim on a terminal."""
    yield f"\n{claim.id}: {claim.published}"
    yield f"  under: {claim.condition}"
    for figure in claim.figures:
        whom = of_whom(figure)
        under = f" ({figure.condition})" if figure.condition else ""
        what = f"{figure.quantity}{f', {whom}' if whom else ''}{under}"
        yield f'  {what}: {amount(figure)}, printed as "{figure.as_printed}"'
        if figure.inference:
            yield f"    our inference: {figure.inference}"
    if instead := without_figures(claim):
        yield f"  {instead}"
    for check in claim.checks:
        size = {"article": ", at the published size", "small": ", at the small size", None: ""}[check.scale]
        yield f"  checked by {check.says}{size}: {reproduced_by(check, claim)} reproduces it"
        if check.inference:
            yield f"    our inference: {check.inference}"
    also = {"not checked": claim.not_checked, "note": claim.note, "our inference": claim.inference}
    yield from (f"  {what}: {text}" for what, text in also.items() if text)
    yield f"  source: {source_line(claim.source)}"
    if claim.source.inference:
        yield f"    our inference about it: {claim.source.inference}"


def _time(matrix: Matrix, name: str, scale: ScaleName) -> str:
    named, profile = as_profile(matrix, name, scale)
    chosen = named.profiles[profile]
    plan = make_plan(select_cells(named, profile), chosen, seed=0, impossible={})
    return span(estimate_s(named, chosen, plan.sure))
