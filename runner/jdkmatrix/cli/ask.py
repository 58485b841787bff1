"""`matrix ask`: put a question together step by step, and measure until it is decided or its time is over."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.cli import running
from jdkmatrix.cli.own import with_own
from jdkmatrix.cli.scenarios import chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.cell_loads import basis_cells
from jdkmatrix.config.load import load_matrix
from jdkmatrix.config.model import BLOCKS_MAX, Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import aa_arm
from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.domain.servers import own_pool, server_kind, title_of, virtual_of
from jdkmatrix.errors import MatrixError, visible
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.locate import locate
from jdkmatrix.provision.project import find_project
from jdkmatrix.report.words.numbers import span
from jdkmatrix.run.asked import option
from jdkmatrix.run.capacities import bases_s
from jdkmatrix.run.plan import estimate_s, make_plan, stages
from jdkmatrix.stats.stopping import FEWEST_BLOCKS

_BUDGET = re.compile(r"([0-9]+) *(s|m|min|h)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_PRECISION = 0.05
_FEWEST = 2  # blocks with which a ratio has an interval
_PROFILE = "quick"
_DECIDES = ("--profile", "--scenario", "--blocks", "--max-blocks", "--precision", "--no-stopping", "--aa")

Values = dict[str, tuple[str | int, ...]]
Choose = Callable[["Step"], str | int]


@dataclass(frozen=True)
class Step:
    """One thing to choose: values of an axis with their words, the default first."""

    axis: str
    title: str
    choices: tuple[tuple[str, str | int], ...]


def ask(options: Options, *, budget: str, yes: bool) -> int:
    """Returns the exit code of the run.

    Raises:
        MatrixError: as running.run; the budget is too small, or nothing says what to measure.
    """
    if decided := [given for given in options.given if given in _DECIDES]:
        raise MatrixError(f"ask decides that itself, by --budget: drop {', '.join(decided)}, or use `matrix run`")
    budget_s = seconds(budget)
    project = find_project()
    matrix = load_matrix(project.matrix)
    asked = with_own(options, matrix).values
    here = [entry.id for entry in load_catalogue(project.jdks).entries if any(locate(entry))]
    choose = _chosen_on_terminal if sys.stdin.isatty() and sys.stdout.isatty() and not yes else _default
    values = answered(matrix, asked, here, len(read_topology().cpus), choose)
    options = replace(options, profile=_PROFILE, values=values)
    chosen = chosen_here(project, options)
    (stage,) = stages(chosen.matrix, _PROFILE)
    one_block = make_plan(stage.cells, stage.profile.model_copy(update={"blocks": 1}), seed=0, impossible={})
    before_s = bases_s(chosen.matrix, stage.profile, basis_cells(chosen.matrix, stage.cells))
    block_s = estimate_s(chosen.matrix, stage.profile, one_block.sure)
    options = within(options, block_s=block_s, before_s=before_s, budget_s=budget_s)
    answers = {axis: found for axis, found in values.items() if axis not in asked}
    options = replace(options, command=command(sys.argv[2:], answers, options))
    _say(f"The same without questions: {shlex.join(options.command)}")
    if choose is _chosen_on_terminal and not _confirmed():
        return 0
    return running.run(options, resume=False, directory=None, site=None)


def seconds(budget: str) -> int:
    """ "10m", "90s", "2h". Raises: MatrixError: anything else."""
    found = _BUDGET.fullmatch(budget.strip())
    if found is None:
        raise MatrixError(f'--budget: "{budget}" is no time (allowed: 90s, 10m, 2h)')
    return int(found[1]) * _SECONDS[found[2]]


def answered(
    matrix: Matrix, given: Mapping[str, Sequence[str | int]], jdks: Sequence[str], cpus: int, choose: Choose
) -> Values:
    """What to measure: `given` stays, `choose` decides all else. `jdks`: those that are here; `cpus`: of this host."""
    values: Values = {axis: tuple(chosen) for axis, chosen in given.items()}
    for step in steps(matrix, values, jdks, cpus):
        values[step.axis] = (step.choices[0][1] if len(step.choices) == 1 else choose(step),)
    server = str(values["server"][0])
    values.setdefault("executor", (own_pool(server), virtual_of(server), aa_arm(own_pool(server))))
    if "workload" not in values:
        values["workload"] = (_workload(matrix, values),)
    return values


def steps(matrix: Matrix, values: Values, jdks: Sequence[str], cpus: int) -> Iterator[Step]:
    """One after another, since what may be chosen follows from what is; `values` has what is chosen meanwhile."""
    if "server" not in values:
        asked = (name for name in matrix.servers if (kind := server_kind(name)) and kind.has(kind.virtual))
        yield Step("server", "Which server?", tuple((title_of(name) + f" ({name})", name) for name in asked))
    if "jdk" not in values:
        usual = matrix.profiles[_PROFILE].select.jdk or matrix.axes.jdk
        yield Step("jdk", "Which JDK?", tuple((name, name) for name in dict.fromkeys((*usual, *jdks))))
    if "cpus" not in values:
        yield Step(
            "cpus", "How many CPUs has the server?", tuple((plural(n, "CPU"), n) for n in range(1, max(2, cpus)))
        )
    if "burn_us" not in values:
        shown = [(work_words(us) if us else "next to nothing", us) for us in (0, 50, 100, 500, 1000, 5000)]
        yield Step("burn_us", "How long does a request compute?", tuple(shown))
    if "wait_us" not in values:
        waits = (0, 2000, 20_000, 200_000)
        shown = [
            (wait_words(us) if us else "it calls nobody", us) for us in waits if not us or _can_wait(matrix, values, us)
        ]
        yield Step("wait_us", "How long does it wait for another system?", tuple(shown))
    if "load" not in values:
        flat_out = "flood" if values["wait_us"][0] else "saturate-50"
        yield Step(
            "load",
            "What matters most?",
            (
                ("throughput: as many requests as it can serve", flat_out),
                ("CPU per request, and p99: at half of what the pool can serve", "share-50"),
            ),
        )


def _can_wait(matrix: Matrix, values: Values, wait_us: int) -> bool:
    return any(_workloads(matrix, {"load": ("saturate-50",), **values, "wait_us": (wait_us,)}))


def _workload(matrix: Matrix, values: Values) -> str:
    """The first that can be what is asked for. Raises: MatrixError: none can."""
    found = next(_workloads(matrix, values), None)
    if found is None:
        raise MatrixError(f"no workload can be that on {title_of(str(values['server'][0]))}; --workload names one")
    return found


def _workloads(matrix: Matrix, values: Values) -> Iterator[str]:
    server, load = str(values["server"][0]), str(values["load"][0])
    point = {"server": server, "jdk": "", "executor": own_pool(server), "cpus": 1, "burn_us": 0, "load": load}
    usual = matrix.loads.get(load) or matrix.loads["saturate-50"]
    for name in (name for name in matrix.workloads if name in values.get("workload", (name,))):
        cell = CellKey.model_validate({**point, "workload": name, "wait_us": values["wait_us"][0]})
        if matrix.model_copy(update={"loads": {load: usual}}).why_no_cell(cell) is None:
            yield name


def within(options: Options, *, block_s: float, before_s: float, budget_s: float) -> Options:
    """As many blocks as there is time for, until the ratio is known to ± 5 %. `before_s`: what is measured first takes.

    Raises:
        MatrixError: there is no time for two.
    """
    blocks = min(int((budget_s - before_s) // block_s), BLOCKS_MAX)
    if blocks < _FEWEST:
        first = f"{span(before_s)} go to the capacity that the load is a share of, " if before_s else ""
        raise MatrixError(
            f"--budget: {span(budget_s)} is too short: {first}a block takes about {span(block_s)}, and an interval "
            f"needs {_FEWEST} of them"
        )
    if blocks < FEWEST_BLOCKS:
        _say(f"{plural(blocks, 'block')}, about {span(before_s + blocks * block_s)}.")
        return replace(options, blocks=blocks)
    least, most = (span(before_s + count * block_s) for count in (FEWEST_BLOCKS, blocks))
    _say(f"Until the ratio is known to ± {_PRECISION:.0%}: {FEWEST_BLOCKS} to {blocks} blocks, {least} to {most}.")
    return replace(options, blocks=FEWEST_BLOCKS, max_blocks=blocks, precision=_PRECISION)


def command(typed: Sequence[str], answers: Values, options: Options) -> tuple[str, ...]:
    """`matrix run` with the same question. `typed`: behind `matrix ask`; `answers`: to what that leaves open."""
    words, left = ["matrix", "run"], iter(typed)
    for word in left:
        if word == "--budget":
            next(left)
        elif word != "--yes" and not word.startswith("--budget="):
            words.append(word)
    words += [word for axis, values in answers.items() for value in values for word in option(axis, value)]
    words += ["--blocks", str(options.blocks)]
    if options.max_blocks is not None:
        words += ["--max-blocks", str(options.max_blocks), "--precision", str(options.precision)]
    return tuple(words)


def _default(step: Step) -> str | int:
    return step.choices[0][1]


def _chosen_on_terminal(step: Step) -> str | int:
    import questionary

    choices = [questionary.Choice(title=words, value=value) for words, value in step.choices]
    found = questionary.select(step.title, choices=choices, qmark="", instruction=" ").unsafe_ask()
    return found if isinstance(found, int) else str(found)


def _confirmed() -> bool:
    import questionary

    return bool(questionary.confirm("Measure now?", qmark="").unsafe_ask())


def _say(text: str) -> None:
    print(visible(text), flush=True)
