"""The command line: exit codes, messages, JSON, and a quick start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest import mock

import jsonschema
import pytest
from rich.console import Console

from jdkmatrix.cli import catalogue, running
from jdkmatrix.cli.exit_codes import EXIT_CODES
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES, claims_of_today
from jdkmatrix.cli.running import conclude
from jdkmatrix.jdks.availability import Outlook
from jdkmatrix.jdks.catalogue import Catalogue
from jdkmatrix.provision.project import Project
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT, called, called_with_few_files, make_project, matrix, matrix_command
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['matrix', '--help']\n"
        "from jdkmatrix.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('scipy', 'numpy', 'altair', 'pydantic', 'jinja2', 'psutil') if m in sys.modules])\n"
        "print(sorted({m.split('.')[1] for m in sys.modules if m.startswith('jdkmatrix.')}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *_, heavy, ours = done.stdout.splitlines()
    assert (heavy, ours) == ("[]", "['cli', 'errors']")
    assert "Exit codes" in done.stdout


def test_a_site_that_could_not_be_written_is_told_before_anything_is_measured(home: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    foreign = called(home, "run", "--profile", "short", "--site", str(tmp_path))
    nowhere = called(home, "run", "--profile", "short", "--site", "/proc/no/site")
    below_a_file = called(home, "run", "--profile", "short", "--site", str(tmp_path / "thesis.tex" / "site"))
    assert [done.returncode for done in (foreign, nowhere, below_a_file)] == [1, 1, 1]
    assert f"{tmp_path}: is not empty and not a site of this tool" in foreign.stderr
    assert "/proc/no/site: no site can be written there" in nowhere.stderr
    assert "thesis.tex/site: no site can be written there" in below_a_file.stderr
    assert not (home / "results").exists()


@pytest.mark.parametrize("name", ["#1", "a?", "a!", "100%", "a\\b", "a\nb"])
def test_a_folder_that_no_server_can_run_in_is_told_before_it_measures(home: Path, tmp_path: Path, name: str) -> None:
    done = called(home, "run", "--profile", "quick", "--run", str(tmp_path / name))
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert "Open Liberty cannot run below a folder with " in done.stderr


def test_too_few_open_files_are_told_before_anything_is_measured(home: Path) -> None:
    done = called_with_few_files(home, "run", "--profile", "short")
    assert done.returncode == 1
    assert done.stderr == "matrix: this process may open only 12 files (ulimit -n); measuring takes up to 256\n"
    assert not (home / "results").exists()


@pytest.fixture(scope="module")
def with_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project that has a run."""
    folder = tmp_path_factory.mktemp("with-run")
    home = make_project(folder / "project")
    stored(home / "results" / "run", synthetic_run(folder / "made-up", replace(QUICK, blocks=2, windows=1)))
    return home


@pytest.mark.parametrize(
    "arguments", ["report", "summary", "export", "compare run --executor liberty --executor virtual"]
)
def test_what_reads_results_needs_few_open_files_or_ends_in_one_message(with_run: Path, arguments: str) -> None:
    done = called_with_few_files(with_run, *arguments.split())
    told = [line.partition(" ")[0] for line in done.stderr.splitlines()]
    assert told == ["matrix:"] * (done.returncode in (1, EXIT_WITH_FAILURES)), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "--profile", "quik"), 'did you mean "quick"'),
        (("plan", "--profile", "fanout"), "--profile: fanout is a published experiment: use --scenario fanout\n"),
        (("plan", "--scenario", "fan-out"), '--scenario: "fan-out" is not known; did you mean "fanout"?'),
        (("plan", "--scenario", "quick"), "--scenario: quick is a profile: use --profile quick\n"),
        (("plan", "--executor", "virtal"), '--executor: "virtal" is not an executor; did you mean "virtual"'),
        (("plan", "--arm", "virtal:-Xmx2g"), '--arm: "virtal" is not an executor; did you mean "virtual"'),
        (("plan", "--aa", "virtal"), '--aa: "virtal" is not an executor; did you mean "virtual"'),
        (("plan", "--aa", "liberty-aa"), "--aa liberty-aa: give the executor itself, liberty"),
        (
            ("plan", "--wait", "2 min"),
            '--wait: "2 min" is not a valid time (allowed: 300us, 20ms, 1s, or a number of µs)',
        ),
        (("plan", "--burn", "11s"), "--burn: 11s is too long; at most 10 s are allowed"),
        (("plan", "--load", "saturate-x"), '--load: "saturate-x" is not known; did you mean "saturate-N"?'),
        (("plan", "--load", "satrate-50"), "; N stands for a number\n"),
        (("plan", "--load", "5000"), '--load: "5000" has no unit; did you mean "5000/s", which is a rate, or "satu'),
        (("plan", "--load", "5000000000/s"), '--load: "rate-5000000000": N of rate-N is a whole number from 1 to 10,'),
        (("plan", "--load", "saturate-0"), '"saturate-0": N of saturate-N is a whole number from 1 to 1,000,000\n'),
        (("plan", "--load", "share-250"), '"share-250": N of share-N is a whole number from 1 to 200\n'),
        (("plan", "--workload", "bank-sql-1.5"), '"bank-sql-1.5": N of bank-sql-N is a whole number from 1 to 1,000\n'),
        (("plan", "--executor", "fixed-0"), '--executor: "fixed-0": N of fixed-N is a whole number from 1 to 99,999\n'),
        (("plan", "--aa", "virtual-bounded-123456"), "N of virtual-bounded-N is a whole number from 1 to 99,999\n"),
        (("plan", "--executor", "virtual+carriers-0"), '"carriers-0": N of carriers-N is a whole number from 1 to '),
        (("plan", "--executor", "virtual+carrier-2"), 'did you mean "carriers-N"?'),
        (
            ("plan", "--server", "tomcat"),
            "--server tomcat: of the executors of quick it has only virtual; say which to compare: "
            "--executor tomcat --executor tomcat-virtual",
        ),
        (("plan", "--workload", "spawn-work"), "spawn-work has no arm liberty (it has "),
        (("plan", "--jdk", "temurin-52"), 'did you mean "temurin-2'),
        (("plan", "--precision", "0.05"), "--max-blocks"),
        (("plan", "--blocks", "1001"), "--blocks: found 1001; it should be less than or equal to 1000"),
        (("plan", "--window-s", "1e6"), "--window-s: found 1000000.0; it should be less than or equal to 86400"),
        (("plan", "--blocks", "5", "--max-blocks", "6", "--precision", "1"), "--precision: found 1.0; it should be"),
        (("plan", "--blocks", "3", "--max-blocks", "8"), "--blocks 3: with --max-blocks, at least "),
        (("plan", "--profile", "article", "--max-blocks", "2"), "--blocks 2 alone measures exactly 2"),
        (("plan", "--profile", "article", "--no-stopping", "--max-blocks", "9"), "--no-stopping adds no blocks"),
        (("plan", "--no-stopping", "--precision", "0.1"), "--no-stopping adds no blocks"),
        (("plan", "--cpus", "999"), "none of the 3 cells can be measured here:\n  cpus = 999 needs 999 + 1 for "),
        (("run", "--cpus", "999"), "none of the 3 cells can be measured here:\n  cpus = 999 needs 999 + 1 for "),
        (("plan", "--cpu-quota", "2"), "\n  mp-ping-quota-2000m: a quota of 2 CPUs limits nothing on 1 CPU\n"),
        (
            ("plan", "--jdk", "temurin-21", "--executor", "virtual+poller-mode-1", "--json"),
            "\n  virtual+poller-mode-1 on temurin-21: JDK 21 (hotspot) is not known to have jdk.pollerMode\n",
        ),
        (
            ("plan", "--jdk", "temurin-25", "--executor", "virtual+poller-mode-3"),
            "\n  virtual+poller-mode-3 on temurin-25: JDK 25 (hotspot) is not known to have jdk.pollerMode=3\n",
        ),
        (
            ("plan", "--burn", "1s", "--load", "share-50"),
            "\n  50 requests at once of 1,000,000 µs of work each are answered after 50 s on 1 CPU, and the ",
        ),
        (
            ("plan", "--workload", "banking", "--wait", "200ms", "--load", "500/s"),
            "\n  500 requests/s that wait 200 ms each need 100 connections, and rate-500 has 50\n",
        ),
        (
            ("plan", "--workload", "banking", "--wait", "20s", "--load", "saturate-2"),
            "\n  its remote system answers after 20 s, and the driver gives up after 10 s\n",
        ),
        (("plan", "-p", "quick", "--profile", "matrix"), "--profile: found quick and matrix; give one at a time\n"),
        (("plan", "--server", "open-liberty-23.0.0.9", "--workload", "mp-ping-mp61"), ".9 has no microProfile-6.1, "),
        (("ask", "--yes", "--budget", "soon"), '--budget: "soon" is not a valid time (allowed: 90s, 10m, 2h)'),
        (("scenarios", "delay-ram"), 'did you mean "delay-ramp"'),
        (("report", "/no/such/run"), "/no/such/run: neither a run nor a folder of runs"),
        (("summary", "/no/such/run", "--markdown"), "/no/such/run: neither the folder of a run nor the id of one in "),
        (("summary",), "no run there yet"),
        (("run", "--resume", "--run", "/proc/no-such"), "/proc/no-such: no run there"),
        (("run", "--resume", "-p", "quick", "--cpus", "1", "--no-stopping"), "drop --profile, --cpus, --no-stopping\n"),
        (("jdks", "fetch", "temurin-52"), "temurin-52"),
        (("jdks", "--json", "update", "temurin-25"), "--json is for listing the catalogue: update does not take it"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_1(home: Path, arguments: tuple[str, ...], message: str) -> None:
    done = called(home, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.startswith("matrix: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("plan", "--cpus", "0"), ("doctor", "-x"), ("--bogus",), ("jdks", "no"), ()])
def test_what_the_parser_refuses_has_the_exit_code_of_all_refusals(home: Path, arguments: tuple[str, ...]) -> None:
    done = called(home, *arguments)
    assert (done.returncode, "Usage: matrix" in done.stderr) == (1, True)


def test_a_run_that_was_stopped_before_it_had_a_record_is_not_passed_over(tmp_path: Path) -> None:
    """Preparing takes minutes, as do capacities; `--resume` would otherwise continue an older run."""
    home = make_project(tmp_path / "project")
    stored(home / "results" / "older", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1)))
    begun = str(RunStore.create(home / "results" / "20260101T000000Z-matrix").directory)
    reads = (("report", begun), ("summary", Path(begun).name), ("export", begun), ("compare", "older", begun))
    for command in (("run", "--resume"), *reads):
        done = called(home, *command)
        assert done.returncode == 1
        assert f"{begun}: stopped before it had a run.json" in done.stderr
        assert f"Repeat its command with --run {begun}" in done.stderr
    assert called(home, "summary").returncode == 0, "there is nothing to sum up of the other one"


@pytest.mark.parametrize("command", [("report",), ("summary",), ("summary", "--markdown")])
@pytest.mark.parametrize("fault", ["damaged", "missing"])
def test_a_lost_cell_file_is_told_with_code_3(home: Path, tmp_path: Path, command: tuple[str, ...], fault: str) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))
    store = stored(tmp_path / "run", loaded)
    where = (str(store.directory), *(("--site", str(tmp_path / "site")) if command == ("report",) else ()))
    whole = called(home, *command, *where)
    assert (whole.returncode, whole.stderr) == (0, ""), whole.stderr
    lost = store.cell_path(loaded.cells[1].key)
    if fault == "missing":
        lost.unlink()
    else:
        lost.write_bytes(lost.read_bytes()[:100])
    done = called(home, *command, *where)
    assert done.returncode == 3
    assert done.stderr.startswith(f"matrix: {lost}: ") and "Traceback" not in done.stderr
    shown = (
        (tmp_path / "site" / "runs" / loaded.run.run_id / "index.html").read_text("utf-8")
        if command == ("report",)
        else done.stdout
    )
    assert lost.name in shown.replace("\\", "")
    assert "1 of 2 forks usable: 1 without a readable record" in shown.replace("\\", "")


def test_an_address_of_runs_that_are_not_shown_is_told(home: Path, tmp_path: Path) -> None:
    store = stored(tmp_path / "runs" / "run", synthetic_run(tmp_path / "made-up", QUICK))
    done = called(home, "report", str(store.directory), "--records-at", f"{tmp_path}=https://example.org/")
    assert done.returncode == 1
    assert done.stderr == f"matrix: --records-at {tmp_path}: none of the runs shown is in it\n"


def test_the_end_of_a_run_tells_lost_files_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))
    store = RunStore.create(tmp_path / "run")
    store.save_run(loaded.run)
    store.save_cell(loaded.cells[0])
    project = Project(root=ROOT, work=tmp_path)
    assert conclude(project, store, tmp_path / "site", Console(file=StringIO())) == 3
    assert loaded.cells[1].key.cell_id in capsys.readouterr().err
    store.save_cell(loaded.cells[1])
    told = mock.Mock()
    monkeypatch.setattr(running, "print_summary", told)
    assert conclude(project, store, tmp_path / "site", Console(file=StringIO())) == 0
    assert told.call_args.args[2] == claims_of_today(project), "judged as on the pages, by the current checks"


def test_a_terminal_without_utf_8_is_shown_what_it_can_show(with_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    for arguments in (("summary",), ("summary", "--markdown")):
        done = matrix(with_run, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
    assert called(with_run, "report").returncode == 0
    env = {**os.environ, "MATRIX_HOME": str(with_run)}
    table = subprocess.run(matrix_command("export"), env=env, capture_output=True, check=True)
    (written,) = (with_run / "site" / "runs").glob("*/results.csv")
    assert table.stdout == written.read_bytes(), "data is no text for a terminal"


@pytest.mark.parametrize("command", ["schema", "--version"])  # more than fits into a buffer, and less
def test_what_the_system_refuses_is_one_message(home: Path, command: str) -> None:
    env = {**os.environ, "MATRIX_HOME": str(home)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            matrix_command(command), env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "matrix: No space left on device\n")


def test_the_site_stands_before_anything_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(tmp_path / "run", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=2, windows=1)))
    terminal = Console(file=TextIOWrapper(BytesIO(), "latin-1"))
    with pytest.raises(UnreadableError, match="UnicodeEncodeError"):
        conclude(Project(root=ROOT, work=tmp_path), store, tmp_path / "site", terminal)
    assert (tmp_path / "site" / "index.html").is_file()
    monkeypatch.setattr(running, "has_failures", mock.Mock(side_effect=OverflowError("too large")))
    with pytest.raises(UnreadableError, match=rf"^{store.directory}: .*OverflowError in cli/running"):
        conclude(Project(root=ROOT, work=tmp_path), store, tmp_path / "site", Console(file=StringIO()))


STEERING = "\x1b[31m\x9b2J\x07\u202e\r"
SHOWN = r"\x1b[31m\x9b2J\x07\u202e\r"


def test_what_steers_a_terminal_is_shown_as_text(tmp_path: Path) -> None:
    """This holds wherever it comes from (options, configuration or results), in errors and in tables."""
    home = make_project(tmp_path / "project")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "matrix.toml").write_text('["\\u001b[31m\\u009b2J\\u0007\\u202e\\r"]\n')
    shape = replace(QUICK, jdks=(STEERING,), blocks=2, windows=1, run_id=f"run{STEERING}")
    stored(home / "results" / "run", synthetic_run(tmp_path / "made-up", shape))
    told = [called(home, "plan", "--executor", STEERING), called(broken, "plan"), called(home, "summary", STEERING)]
    told += [called(home, "summary", "run"), called(home, "summary", "run", "--markdown"), called(home, "report")]

    def fetch(*_: object, progress: Callable[[str], None], **__: object) -> mock.Mock:
        progress(f"fetching {STEERING}")
        return mock.Mock(notice=STEERING)

    with mock.patch.object(catalogue, "fetch", fetch):
        told.append(called(home, "jdks", "fetch", "temurin-25"))
    for done in told:
        text = done.stdout + done.stderr
        assert not set(text) & set(STEERING.replace("[31m", "").replace("2J", "")), done.args
        assert "site: " in text or SHOWN in text.replace(r"\\", "\\").replace(r"\[", "["), done.args


@pytest.mark.parametrize(("text", "told"), [(None, "no matrix.toml"), ("[axs]", '"axs" is not known')])
def test_a_folder_without_a_project_or_with_a_broken_one_is_told(tmp_path: Path, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "matrix.toml").write_text(text)
    done = called(tmp_path, "plan")
    assert done.returncode == 1 and told in done.stderr and str(tmp_path) in done.stderr
    assert text is None or f"{tmp_path}/matrix.toml: " in done.stderr


def test_scenarios_lists_all_and_of_one_says_what_was_published(home: Path) -> None:
    listed = called(home, "scenarios")
    assert listed.returncode == 0
    assert "delay-ramp" in listed.stdout and "infoq-memory" in listed.stdout and "source:" not in listed.stdout
    none = listed.stdout.partition("not repeated: ")[2]
    assert "infoq-profile" in none and "delay-ramp" not in none
    one = called(home, "scenarios", "delay-ramp").stdout
    assert "infoq" not in one and "not repeated" not in one
    assert "delay-ramp-platform: " in one and "1,100 requests/s" in one
    assert "not checked: The rate at which threads run out follows from the limit on their number" in one
    assert "our inference: 1,200 requests/s of 200 ms take 240 threads" in one
    assert "source: Java Virtual Threads: An opportunity to simplify high-load programming, 2024-04-17 (no addr" in one
    memory = called(home, "scenarios", "infoq-memory").stdout
    assert "peak RSS with a tenth more load (saturate-660 over saturate-600), virtual threads: 2.85 ± 10 %" in memory


def test_schema_is_a_json_schema(home: Path) -> None:
    schema = json.loads(called(home, "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    committed = json.loads((ROOT / "matrix.schema.json").read_text())
    assert schema == committed, "run .venv/bin/matrix schema > matrix.schema.json: editors read it"


def test_jdks_take_a_line_each_of_80_columns_and_one_reason_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "archive: no answer within 5 s; registry: none, and nothing of it is among what this host has"

    def made_up(shipped: Catalogue) -> list[Outlook]:
        first, *others, last = (entry for entry in shipped.entries if not entry.known_bugs)
        ready = (Outlook(entry, "ready", "cache", f"/{entry.id}/" * 9) for entry in others)
        return [*ready, *(Outlook(entry, "unavailable", None, why) for entry in (first, last))]

    monkeypatch.setattr(catalogue, "outlook", made_up)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MATRIX_HOME", str(ROOT))
    catalogue.show(as_json=False)
    table, _, below = capsys.readouterr().out.partition("--json: the location")
    rows = table.strip().splitlines()[2:]
    ids = [row.split()[0] for row in rows]
    entries = json.loads((ROOT / "jdks.json").read_text())["entries"]
    assert sorted(ids) == sorted(entry["id"] for entry in entries if not entry.get("known_bugs"))
    assert max(map(len, rows)) <= 80
    assert below.splitlines()[1:] == [f"unavailable: {', '.join(ids[-2:])}: {why}"]
    catalogue.show(as_json=True)
    told = {row["id"]: row["here"] for row in json.loads(capsys.readouterr().out)}
    assert set(told) == set(ids) and (told[ids[-1]]["status"], told[ids[-1]]["detail"]) == ("unavailable", why)


def test_help_has_the_exit_codes_of_the_docs() -> None:
    table = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    codes = re.findall(r"^\| (\d+(?:, \d+)*) \| ", table, re.MULTILINE)
    assert len(codes) == 7
    assert [code for code in codes if f" {code} " not in " ".join(EXIT_CODES.split())] == []


def test_version() -> None:
    done = subprocess.run(matrix_command("--version"), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("matrix ")
