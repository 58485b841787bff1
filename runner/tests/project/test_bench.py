"""What matrix.yml does on a machine of ours and with the releases: its steps, one job after another."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

import pytest

from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT, called, make_project
from tests.support.served_runs import Shape, synthetic_run
from tests.support.workflow_steps import FOLDER, Ended, load, run_step, shell_step

# What `matrix run` leaves, and how it ends: cut off as at the end of its slice, when `timeout` ends what it started.
MEASURES = """
if arguments[3:4] == ["run"]:
    run = Path(arguments[-1])
    (run / "cells").mkdir(parents=True, exist_ok=True)
    (run / "run.json").write_text("{}")
"""
CUT_OFF = "os.kill(os.getppid(), signal.SIGTERM); signal.pause()"
PAUSES = f"{MEASURES}    {CUT_OFF}\n"
EVENTS = ("17 3 * * 6", "17 3 * * 3", "17 3 * * 0,1,2,4,5")


class Machine:
    """One of ours. Every step is of a new job, on a runner of its own: only `store` outlives it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.jobs = folder, 0
        self.store = folder / "store"

    def step(self, name: str, *, job: int | None = None, **how: object) -> Ended:
        """`job`: of an earlier step, in whose checkout this one goes on."""
        self.jobs += job is None
        env = {"MATRIX_BENCH": str(self.store), **how.pop("env", {})}  # type: ignore[dict-item]
        return run_step(shell_step(name), self._folder / f"job-{job or self.jobs}", env=env, **how)  # type: ignore[arg-type]

    def names(self, what: str) -> list[str]:
        return sorted(path.name for path in (self.store / what).iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one finished run, made up, with cells of every outcome."""
    folder = make_project(tmp_path_factory.mktemp("project"))
    shape = Shape(
        jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), burn_us=(0, 50, 200),
        loads=("saturate-50", "rate-2000"), blocks=1, windows=1, accidents=True,
    )  # fmt: skip
    store = RunStore.create(folder / "results" / shape.run_id)
    loaded = synthetic_run(store.directory, shape)
    store.save_run(loaded.run)
    for cell in loaded.cells:
        store.save_cell(cell)
    return folder


# ---------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({}, "--profile matrix"),
        ({"profile": "quick"}, "--profile quick"),
        ({"profile": "article", "scenario": "infoq-ping"}, "--scenario infoq-ping"),
        ({"jdk": "temurin-25"}, "--profile matrix --jdk temurin-25"),
        ({"profile": "full", "jdk": " temurin-21  temurin-25 ", "executor": "liberty virtual"},
         "--profile full --jdk temurin-21 --jdk temurin-25 --executor liberty --executor virtual"),
    ],
)  # fmt: skip
def test_inputs_become_arguments_that_matrix_knows(
    machine: Machine, home: Path, inputs: dict[str, str], arguments: str
) -> None:
    assert machine.step("Line up", inputs=inputs).outputs == {"waits": "true"}
    (name,) = machine.names("line")
    assert machine.step("Measure", does=MEASURES).calls == (
        (
            *("nix", "run", f"git+file://{machine.store.parent / 'job-2'}?rev=c0ffee#everything", "--", "run"),
            *(*arguments.split(), "--run", str(machine.store / "results" / name)),
        ),
    )
    planned = called(home, "plan", *arguments.split())  # takes what `run` takes, and measures nothing
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(
    ("when", "asked"), [(EVENTS[0], "--profile matrix"), (EVENTS[1], "--scenario in-turn"), (EVENTS[2], None)]
)
def test_the_schedule_measures_the_matrix_and_the_scenarios_in_turn(
    machine: Machine, home: Path, when: str, asked: str | None
) -> None:
    assert when in [entry["cron"] for entry in load(FOLDER / "matrix.yml")["on"]["schedule"]]
    ended = machine.step("Line up", schedule=when)
    if asked is None:
        assert (ended.outputs, machine.names("line")) == ({}, []), "nothing waits: there is nothing to do"
        return
    (name,) = machine.names("line")
    assert (machine.store / "line" / name).read_text().splitlines() == ["c0ffee", *asked.split()]
    planned = called(home, "plan", *asked.split())
    assert planned.returncode == 0, planned.stderr


def test_the_schedule_comes_every_day() -> None:
    days = [entry["cron"].split()[-1] for entry in load(FOLDER / "matrix.yml")["on"]["schedule"]]
    assert sorted("".join(days).replace(",", "")) == list("0123456")


@pytest.mark.parametrize("name", ["profile", "scenario", "jdk", "executor", "machine"])
def test_an_input_is_never_run_nor_expanded(machine: Machine, tmp_path: Path, name: str) -> None:
    hostile = '";touch${IFS}pwned;#*$(touch${IFS}pwned)`touch${IFS}pwned`/../../..'
    assert machine.step("Line up", inputs={name: hostile}).code == 0
    (run,) = machine.names("line")
    assert re.fullmatch(r"[A-Za-z0-9-]+", run), "it becomes the name of a folder, a file and a tag"
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert name == "machine" or call[-4:-2] == (f"--{name}", hostile)
    assert not list(tmp_path.rglob("pwned"))


# ---------------------------------------------------------------- a run of several days


def test_a_run_of_several_days_goes_on_where_it_was_cut_off(machine: Machine) -> None:
    """At the end of a slice it gets SIGTERM. The next job may have a new checkout, and main may have moved: neither its
    results nor its commit are lost."""
    machine.step("Line up")
    (name,) = machine.names("line")
    cut = machine.step("Measure", does=PAUSES)
    assert (cut.code, machine.names("line"), machine.names("changed")) == (0, [name], [name])
    assert f"::notice title=matrix::{name} was stopped (143) and goes on next time" in cut.output
    machine.step("Line up", schedule=EVENTS[2], env={"GITHUB_SHA": "f00d"})
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[2].endswith("?rev=c0ffee#everything")
    assert call[3:] == ("--", "run", "--resume", "--run", str(machine.store / "results" / name))
    assert (machine.names("line"), machine.names("results")) == ([], [name])


def test_a_run_that_a_crash_of_the_machine_ended_goes_on(machine: Machine) -> None:
    machine.step("Line up")
    dies = MEASURES + "    os.kill(os.getpid(), signal.SIGKILL)\n"
    assert machine.step("Measure", does=dies).code == 0
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert "--resume" in call


def test_a_run_that_was_cut_off_before_it_had_a_run_json_is_begun_again(machine: Machine) -> None:
    """As `matrix run --resume` says: its command again, in its folder, which keeps the capacities that it has."""
    machine.step("Line up", inputs={"profile": "quick"})
    machine.step("Measure", does=CUT_OFF)
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[4:7] == ("run", "--profile", "quick")


def test_what_is_not_complete_is_measured_first_and_the_same_is_not_begun_twice(machine: Machine) -> None:
    machine.step("Line up", schedule=EVENTS[0])
    machine.step("Measure", does=PAUSES)
    (first,) = machine.names("line")
    again = machine.step("Line up", schedule=EVENTS[0], env={"GITHUB_SHA": "f00d"})
    assert f"{first} is the same" in again.output and machine.names("line") == [first]
    (machine.store / "line" / first).rename(machine.store / "line" / "20000101T000000Z-older")
    machine.step("Line up", inputs={"profile": "quick"})
    older, newer = machine.step("Measure", does=MEASURES).calls
    assert older[-1].endswith("/20000101T000000Z-older") and newer[4:7] == ("run", "--profile", "quick")


@pytest.mark.parametrize(
    ("code", "said"), [(0, ""), (3, "::warning title=matrix::{} is complete, but with failed or invalid cells")]
)
def test_failed_or_invalid_cells_are_told_and_do_not_end_the_job(machine: Machine, code: int, said: str) -> None:
    machine.step("Line up")
    (name,) = machine.names("line")
    ended = machine.step("Measure", does=MEASURES, code=code, says="")
    assert (ended.code, machine.names("line"), machine.names("changed")) == (0, [], [name])
    assert ended.output.startswith(said.format(name)) and bool(ended.output) == bool(said)


def test_what_fails_is_tried_again_and_keeps_nothing_else_waiting(machine: Machine) -> None:
    """Somebody may be measuring by hand, or the network be away."""
    machine.step("Line up", schedule=EVENTS[0])
    machine.step("Line up", schedule=EVENTS[1])
    ended = machine.step("Measure", code=1)
    assert (ended.code, len(ended.calls), len(machine.names("line"))) == (1, 2, 2)
    assert ended.output.count("the next job tries again, until line/") == 2
    assert machine.step("Pack").outputs == {}, "there is nothing to hand over"
    assert len(machine.step("Measure", does=MEASURES).calls) == 2


def test_what_has_nothing_measured_yet_begins_at_the_commit_of_the_newest_request(machine: Machine) -> None:
    """That of an older one may be why it fails."""
    machine.step("Line up")
    machine.step("Measure", code=1)
    machine.step("Line up", env={"GITHUB_SHA": "f00d"})
    (call,) = machine.step("Measure", does=MEASURES).calls
    assert call[2].endswith("?rev=f00d#everything")


def test_what_a_person_mistyped_is_not_lined_up(machine: Machine) -> None:
    asked = machine.step("Line up", inputs={"profile": "quik"}, code=1)
    assert asked.calls == (("nix", "run", ".#everything", "--", "plan", "--profile", "quik"),)
    assert (asked.code, machine.names("line")) == (1, [])


# ---------------------------------------------------------------- handing it over


def test_what_could_not_be_handed_over_is_handed_over_by_the_next_job(machine: Machine) -> None:
    machine.step("Line up", inputs={"profile": "quick"})
    machine.step("Line up", inputs={"profile": "article"})
    quick, article = sorted(machine.names("line"), key=lambda name: "article" in name)
    machine.step("Measure", does=MEASURES)
    (machine.store / "line" / article).write_text("c0ffee\n--profile\narticle\n")  # as if it were cut off
    for _ in range(2):  # the upload of the first one fails
        packed = machine.step("Pack")
        assert packed.outputs == {"complete": "true", "unfinished": "true"}
        job = machine.store.parent / f"job-{machine.jobs}" / "packed"
        assert [str(path.relative_to(job)) for path in sorted(job.rglob("*.gz"))] == [
            f"complete/{quick}.tar.gz", f"unfinished/{article}.tar.gz"
        ]  # fmt: skip
    machine.step("Note what was handed over", job=machine.jobs)
    assert (machine.names("changed"), machine.names("results")) == ([], sorted([quick, article]))
    assert machine.step("Pack").outputs == {}


@pytest.mark.parametrize(("name", "summary"), [("Sum up", "said\n"), ("Write the site of these runs", "")])
@pytest.mark.parametrize(("code", "job_goes_on"), [(0, True), (3, True), (1, False), (2, False)])
def test_damaged_result_files_are_told_and_what_is_left_is_shown(
    machine: Machine, name: str, summary: str, code: int, job_goes_on: bool
) -> None:
    machine.step("Line up")
    machine.step("Measure", does=MEASURES)
    ended = machine.step(name, code=code)
    assert (ended.code == 0) == job_goes_on
    assert ("::warning title=matrix::result files" in ended.output) == (code == 3)
    assert ended.summary == summary


# ---------------------------------------------------------------- releases and the site

# https://docs.github.com/en/repositories/releasing-projects-on-github/about-releases
RELEASES = """
if program == "gh":
    root, (verb, *rest) = Path(os.environ["RELEASES"]), arguments[1:]
    if verb == "list":
        print("\\n".join(sorted(path.name for path in root.iterdir())))
        sys.exit()
    here = root / rest[0]
    if verb == "view":
        sys.exit(not here.is_dir())
    files = [Path(word) for word in rest[1:] if word.startswith("parts/")]
    if verb == "create" and not (files and "UPLOADS_FAIL" in os.environ):
        here.mkdir()
    if verb in ("create", "upload"):
        for file in files:
            assert "UPLOADS_FAIL" not in os.environ
            assert file.stat().st_size < 2 * 1024**3
            shutil.copy(file, here)
        assert not files or len(list(here.iterdir())) <= 1000
    if verb == "download":
        found = list(here.glob(rest[2]))
        for file in found:
            shutil.copy(file, rest[4])
        sys.exit(not found)
    sys.exit()
"""


def handed_over(checkout: Path, run: Path, name: str) -> None:
    """As the job that measures leaves it."""
    packed = checkout / "packed" / "complete" / f"{name}.tar.gz"
    packed.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packed, "w:gz") as file:
        file.add(run, arcname=name)


@pytest.mark.parametrize("part_bytes", [2_000_000_000, 1000])
def test_runs_are_kept_without_their_logs_and_come_back_whole(tmp_path: Path, home: Path, part_bytes: int) -> None:
    """A run is a release of its own, so that none ever has too many files; one that is too large for a file has
    several."""
    assert int(shell_step("Add them to the releases").raw["env"]["PART_BYTES"]) < 2 * 1024**3
    (run,) = (home / "results").iterdir()
    releases, one, two = tmp_path / "releases", "20250102T000000Z-matrix-iron", "20250103T000000Z-quick-steel"
    for other in ("results-20250101T000000Z-older", "v1.0"):  # neither has a file that could be fetched
        (releases / other).mkdir(parents=True)
    env = {"RELEASES": str(releases), "SITE_CELLS": "20"}
    handed_over(tmp_path / "add", run, one)
    handed_over(tmp_path / "add", run, two)
    for _ in range(2):  # a job that is run again
        how = {**env, "PART_BYTES": str(part_bytes)}
        added = run_step(shell_step("Add them to the releases"), tmp_path / "add", does=RELEASES, env=how)
        assert added.code == 0, added.output
    files = sorted(path.name for path in (releases / f"results-{one}").iterdir())
    assert files[0] == (f"{one}.tar" if part_bytes > 1000 else f"{one}.tar.00")
    assert (len(files) > 1) == (part_bytes == 1000)
    fetched = run_step(shell_step("Fetch the newest runs"), tmp_path / "site", does=RELEASES, env=env)
    assert fetched.code == 0, fetched.output
    kept = tmp_path / "site" / "kept"
    assert sorted(path.name for path in kept.iterdir()) == [one, two], "the older one would be too much for the site"
    assert not (kept / one / "logs").exists()
    assert RunStore(kept / one).load().cells == RunStore(run).load().cells


def test_an_upload_that_fails_leaves_no_release_that_keeps_the_site_from_being_made(tmp_path: Path, home: Path) -> None:
    (run,) = (home / "results").iterdir()
    env = {"RELEASES": str(tmp_path / "releases"), "SITE_CELLS": "99", "PART_BYTES": "2000000000"}
    (tmp_path / "releases").mkdir()
    for name, fails in (("20250102T000000Z-one", False), ("20250103T000000Z-two", True)):
        handed_over(tmp_path / name, run, name)
        how = {**env, "UPLOADS_FAIL": "yes"} if fails else env
        added = run_step(shell_step("Add them to the releases"), tmp_path / name, does=RELEASES, env=how)
        assert (added.code != 0) == fails, added.output
    fetched = run_step(shell_step("Fetch the newest runs"), tmp_path / "site", does=RELEASES, env=env)
    assert fetched.code == 0, fetched.output
    assert [path.name for path in (tmp_path / "site" / "kept").iterdir()] == ["20250102T000000Z-one"]


def test_the_site_is_made_of_the_runs_of_all_machines(tmp_path: Path, home: Path) -> None:
    (run,) = (home / "results").iterdir()
    for name in ("iron-run", "steel-run"):
        here = tmp_path / "kept" / name
        here.parent.mkdir(exist_ok=True)
        RunStore.create(here)
        for file in (run / "cells").iterdir():
            (here / "cells" / file.name).write_bytes(file.read_bytes())
        (here / "run.json").write_text((run / "run.json").read_text().replace(run.name, name))
    shutil.copytree(ROOT / "results" / "reference" / "pinning", tmp_path / "results" / "reference" / "pinning")
    ended = run_step(shell_step("Write the site of these runs"), tmp_path, home=home)
    assert ended.code == 0, ended.output
    page = next((home / "site" / "runs" / "iron-run" / "cells").glob("*.html")).read_text("utf-8")
    assert "https://github.com/someone/something/releases/tag/results-iron-run" in page
    brief = next((home / "site" / "runs" / "pinning" / "cells").glob("*.html")).read_text("utf-8")
    assert "https://github.com/someone/something/tree/main/results/reference/pinning" in brief


# ---------------------------------------------------------------- with this checkout's matrix


@pytest.mark.real
def test_the_real_summary_is_written(machine: Machine, home: Path) -> None:
    machine.step("Line up")
    (name,) = machine.names("line")
    (machine.store / "changed" / name).touch()
    (run,) = (home / "results").iterdir()
    (machine.store / "results" / name).symlink_to(run)
    ended = machine.step("Sum up", home=home)
    assert ended.code == 0, ended.output
    assert ended.summary.startswith("### ")
    assert "**Failed or invalid**" in ended.summary


@pytest.mark.real
def test_the_real_matrix_refuses_what_it_does_not_know(machine: Machine, home: Path) -> None:
    asked = machine.step("Line up", inputs={"profile": "quik"}, home=home)
    assert asked.code == 1
    assert 'did you mean "quick"' in asked.output
    assert machine.names("line") == []


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("one_run_on_this_host")
def test_a_real_run_is_cut_off_by_its_slice(machine: Machine, tmp_path: Path) -> None:
    """How the next one goes on is tried above, and what `--resume` then does in tests/real/test_runs.py."""
    home = make_project(tmp_path / "project")
    machine.step("Line up", inputs={"profile": "short"})
    (name,) = machine.names("line")
    cut = machine.step("Measure", home=home, env={"SLICE_S": "5"})
    assert (cut.code, machine.names("line")) == (0, [name]), cut.output
    assert f"{name} was stopped (143) and goes on next time" in cut.output
