"""`matrix ask`: put a question together step by step, and measure until it is decided or time is up."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from jdkmatrix.cli import running
from jdkmatrix.cli.questions import (
    PROFILE,
    AskedHost,
    AxisQuestion,
    Values,
    answered,
    compared_words,
    needed,
    taken_words,
)
from jdkmatrix.cli.scenarios import Chosen, asked_here, chosen_of
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.so_far import plus_minus
from jdkmatrix.cli.terminal import say
from jdkmatrix.config.model import BLOCKS_MAX, DriverChoice, Matrix
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError, why_refused
from jdkmatrix.host.cpusets import TooFewCpusError, assign, beside
from jdkmatrix.host.topology import Topology, read_topology
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.locate import locate
from jdkmatrix.jdks.own import load_with_own
from jdkmatrix.project_files import program
from jdkmatrix.provision import postgres
from jdkmatrix.provision.nix_parts import handed_over
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.asked import options_of
from jdkmatrix.run.capacities import bases_s
from jdkmatrix.run.impossible import check_some, possible_bases
from jdkmatrix.run.plan import estimate_s, make_plan, stages
from jdkmatrix.servers.kinds import is_here, releases
from jdkmatrix.stats.stopping import FEWEST_BLOCKS

_BUDGET = re.compile(r"([0-9]{1,9}) *(s|m|min|h)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_PRECISION = 0.05
_FEWEST = 2  # the fewest blocks that give a ratio an interval
_ANOTHER = ""  # no value of an axis
_ROUNDING = 1e-9  # of a block: what floats may lose where the budget is exactly enough
_LONGER = ", longer where faults of the host spoil forks"


def ask(options: Options, *, budget: str, yes: bool) -> int:
    """Ask, measure, and return the exit code of the run.

    Raises:
        MatrixError: as asked_here, chosen_of and running.measure; the budget is too small, nothing says what to
            measure, or nobody is there to say that it is to be measured.
    """
    budget_s = seconds(budget)
    project, topology = find_project(), read_topology()
    matrix, asked = asked_here(project, options)
    if PROFILE not in matrix.profiles:
        raise MatrixError(f"{project.matrix}: [profiles.{PROFILE}], whose protocol and loads ask uses, is missing")
    given, pinned = asked.values, load_catalogue(project.jdks).entries
    located = [entry.id for entry in pinned if any(locate(entry))]
    most_cpus = cpus_at_most(topology, matrix.driver, map(int, given.get("cpus", (1,))))
    here = AskedHost(located, most_cpus, releases(project.root, matrix.servers, handed_over()))
    by_menus = all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)) and not yes
    answers: Values = {}

    def choose(question: AxisQuestion) -> str | int:
        if not by_menus:
            return question.usual
        answers[question.axis] = (_by_menu(question),)
        return answers[question.axis][0]

    values = answered(matrix, given, here, choose)
    taken = {axis: found for axis, found in values.items() if axis not in given and axis not in answers}
    if words := taken_words(taken, here):
        say(f"Not asked, so by default: {words}.")
    if "executor" in taken:
        server = str(values["server"][0])
        where = "" if "server" in taken else f" on {here.server_words(server)}"
        say(f"Compared{where}: {compared_words(server)}.")
    said = needed(matrix, values, given, answers)
    matrix, options = asked_here(project, replace(options, profile=PROFILE, values={**options.values, **said}))
    chosen = chosen_of(project, matrix, options)
    if chosen.why:
        say(chosen.why)
    before_s, block_s = _cost_s(project, chosen, topology)
    options = within(options, block_s=block_s, before_s=before_s, budget_s=budget_s)
    unlocated = {entry.id for entry in pinned}.difference(located)
    if lacking := ", ".join(_lacking(project, chosen.matrix, values, unlocated, here)):
        say(f"Not here yet, to be fetched or built before anything is measured: {lacking}.")
    options = replace(options, command=command(sys.argv[2:], said, options))
    say(f"The same without questions: {program()} {shlex.join(options.command[1:])}")
    if by_menus and not _confirmed():
        return 0
    if not by_menus and not yes:
        raise MatrixError("nothing was measured: there is no terminal to confirm on; add --yes to start")
    return running.measure(project, chosen_of(project, matrix, options), None, None, verbose=False)


def _by_menu(question: AxisQuestion) -> str | int:
    """Ask by a menu. Raises: KeyboardInterrupt."""
    import questionary  # only here, to keep what it loads out of a process that asks nothing and measures

    choices = [questionary.Choice(title=words, value=value) for words, value in question.choices]
    read = question.read
    if read is not None:
        choices.append(questionary.Choice(title="another…", value=_ANOTHER))
    found = questionary.select(question.title, choices=choices, qmark="", instruction=" ").unsafe_ask()
    if read is None or found != _ANOTHER:
        return found if isinstance(found, int) else str(found)

    def judge(text: str) -> bool | str:
        return why_refused(lambda: read(text)) or True

    return read(questionary.text(f"{question.title} ({question.such_as})", qmark="", validate=judge).unsafe_ask())


def _confirmed() -> bool:
    """Ask whether to measure now. Raises: KeyboardInterrupt."""
    import questionary

    return bool(questionary.confirm("Measure now?", qmark="").unsafe_ask())


def cpus_at_most(topology: Topology, driver: DriverChoice, asked: Iterable[int]) -> int:
    """Return how many CPUs the server can have.

    Raises:
        MatrixError: fewer than each of those `asked` for; says what can be had.
    """
    busy, least, driver_least = topology.busy_at_most, min(asked), driver.cpus or 1
    driver_cpus, _ = beside(topology, sut_cpus=least, driver_cpus=driver.cpus, remote_cpus=0)
    try:
        assign(topology, sut_cpus=least, driver_cpus=driver_cpus, overlap=driver.overlap)
    except TooFewCpusError as error:
        shared = (
            f"; with `overlap = true` below [driver] in matrix.toml, at most cpus = {busy}, which server and driver "
            "then share: the figures do not measure the server alone"
        )
        raise MatrixError(f"{error}{shared if busy >= driver_least and not driver.overlap else ''}") from None
    return busy if driver.overlap else busy - driver_least


def _lacking(
    project: Project, matrix: Matrix, values: Values, unlocated: Collection[str], here: AskedHost
) -> Iterator[str]:
    """Yield, in words, what these values need that is not here."""
    yield from (str(jdk) for jdk in dict.fromkeys((*values["jdk"], matrix.driver.jdk)) if jdk in unlocated)
    handed = handed_over()
    for name in map(str, values["server"]):
        if name in matrix.servers and not is_here(project.root, name, matrix.servers[name], handed):
            yield here.server_words(name)
    workloads = [found for name in values["workload"] if (found := matrix.workloads.get(str(name)))]
    if any(one.database for one in workloads) and not handed and not postgres.is_here(project.root):
        yield "PostgreSQL"


def _cost_s(project: Project, chosen: Chosen, topology: Topology) -> tuple[float, float]:
    """Return seconds: for what comes first, and per block. Raises: MatrixError: none of it can be measured here."""
    matrix = chosen.matrix
    *_, stage = stages(matrix, PROFILE)
    catalogue = load_with_own(project.jdks, matrix.jdk_homes)
    impossible = check_some(matrix, [(stage.profile, stage.cells)], topology, catalogue)
    one_block = make_plan(stage.cells, stage.profile.model_copy(update={"blocks": 1}), seed=0, impossible=impossible)
    bases = possible_bases(matrix, stage.profile, stage.cells, topology, catalogue)
    return bases_s(matrix, stage.profile, bases), estimate_s(matrix, stage.profile, one_block.sure)


def seconds(budget: str) -> int:
    """Parse "10m", "90s" or "2h". Raises: MatrixError: anything else."""
    found = _BUDGET.fullmatch(budget.strip())
    if found is None:
        raise MatrixError(f'--budget: "{budget}" is not a valid time (allowed: 90s, 10m, 2h)')
    return int(found[1]) * _SECONDS[found[2]]


def budget_for(needed_s: float) -> str:
    """Return the option that allows this much time, in whole minutes from 90 s on."""
    return f"--budget {math.ceil(needed_s)}s" if needed_s < 90 else f"--budget {math.ceil(needed_s / 60)}m"


def within(options: Options, *, block_s: float, before_s: float, budget_s: float) -> Options:
    """Return `options` with as many blocks as there is time for, until the ratio is known to ± 5 %. `before_s`: how
    long the measurements before the first block take.

    Raises:
        MatrixError: there is no time for two.
    """
    blocks = min(int((budget_s - before_s) / block_s + _ROUNDING), BLOCKS_MAX)
    least, enough = (budget_for(before_s + count * block_s) for count in (_FEWEST, FEWEST_BLOCKS))
    decides = f"{enough} allows {FEWEST_BLOCKS}, then goes on until the ratio is known to {plus_minus(_PRECISION)}"
    if blocks < _FEWEST:
        first = f"measuring the capacity that sizes the load takes {span(before_s)}, " if before_s else ""
        raise MatrixError(
            f"--budget: {span(budget_s)} is too short: {first}a block takes about {span(block_s)}, and an interval "
            f"needs {_FEWEST} of them. {least} is the minimum; {decides} while there is time"
        )
    if blocks < FEWEST_BLOCKS:
        say(
            f"{plural(blocks, 'block')}, about {span(before_s + blocks * block_s)}{_LONGER}. So few can only show "
            f"a large difference: {decides} while there is time."
        )
        return replace(options, blocks=blocks)
    shortest, longest = (span(before_s + count * block_s) for count in (FEWEST_BLOCKS, blocks))
    counts = f"{FEWEST_BLOCKS} to {blocks} blocks, {shortest} to {longest}"
    if blocks == FEWEST_BLOCKS:
        counts = f"at most {FEWEST_BLOCKS} blocks, about {shortest}"
    say(f"Until the ratio is known to {plus_minus(_PRECISION)}: {counts}{_LONGER}.")
    return replace(options, blocks=FEWEST_BLOCKS, max_blocks=blocks, precision=_PRECISION)


def command(typed: Sequence[str], said: Values, options: Options) -> tuple[str, ...]:
    """Return the `matrix run` that asks the same. `typed`: what follows `matrix ask`; `said`: what that leaves open."""
    words, left = ["matrix", "run"], iter(typed)
    for word in left:
        if word == "--budget":
            next(left)
        elif word != "--yes" and not word.startswith("--budget="):
            words.append(word)
    words += [*options_of(said), "--blocks", str(options.blocks)]
    if options.max_blocks is not None:
        words += ["--max-blocks", str(options.max_blocks), "--precision", str(options.precision)]
    return tuple(words)
