"""The command line: exit codes, messages, JSON, and a quick start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from jdkmatrix.cli.exit_codes import EXIT_CODES
from jdkmatrix.cli.running import conclude
from jdkmatrix.provision.project import Project
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT, called, make_project, matrix, matrix_command
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import stored


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project"))


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
    assert f"{tmp_path}: is not empty and is no site of this tool" in foreign.stderr
    assert "/proc/no/site: no site can be written there" in nowhere.stderr
    assert "thesis.tex/site: no site can be written there" in below_a_file.stderr
    assert not (home / "results").exists()


@pytest.mark.parametrize("name", ["#1", "a?", "a!", "100%", "a\\b", "a\nb"])
def test_a_folder_that_no_server_can_run_in_is_told_before_anything_is_measured(
    home: Path, tmp_path: Path, name: str
) -> None:
    done = called(home, "run", "--profile", "quick", "--run", str(tmp_path / name))
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert "Open Liberty cannot run below a folder with " in done.stderr


def test_too_few_open_files_are_told_before_anything_is_measured(home: Path) -> None:
    limited = ["sh", "-c", 'ulimit -n 12; exec "$@"', "sh", *matrix_command("run", "--profile", "short")]
    done = subprocess.run(
        limited, env={**os.environ, "MATRIX_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "matrix: this process may open 12 files (ulimit -n), and measuring takes up to 256\n"
    assert not (home / "results").exists()


def test_plan_shows_cells_and_estimate(home: Path) -> None:
    done = called(home, "plan", "--profile", "short")
    assert done.returncode == 0, done.stderr
    assert "2 cells, 2 forks in 1 block, 1 window of 1 s each" in done.stdout
    plan = json.loads(called(home, "plan", "--profile", "short", "--json").stdout)
    assert len(plan["cells"]) == len(plan["order"]) == 2
    assert plan["estimated_s"] > 0


def test_every_plan_draws_its_order_unless_a_seed_is_asked_for(home: Path) -> None:
    arguments = ("plan", "--profile", "quick", "--blocks", "5")
    assert "Every run draws a new order of forks" in called(home, *arguments).stdout
    assert "In the order of seed 12." in called(home, *arguments, "--seed", "12").stdout
    one, other = (json.loads(called(home, *arguments, "--json").stdout) for _ in range(2))
    assert one["seed"] != other["seed"] and not one["seed_asked_for"]
    again = json.loads(called(home, *arguments, "--seed", str(one["seed"]), "--json").stdout)
    assert again == {**one, "seed_asked_for": True}


def test_plan_says_how_many_blocks_may_be_added(home: Path) -> None:
    adaptive = ("plan", "--blocks", "5", "--max-blocks", "8", "--precision", "0.1")
    assert "until every ratio is known to ± 10.0%" in " ".join(called(home, *adaptive).stdout.split())
    plan = json.loads(called(home, *adaptive, "--json").stdout)
    assert (plan["blocks"], plan["max_blocks"], plan["precision"]) == (5, 8, 0.1)
    assert plan["estimated_max_s"] == pytest.approx(plan["estimated_s"] * 8 / 5)


@pytest.mark.parametrize(("profile", "blocks"), [("quick", 5), ("carriers", 7), ("mission", 5)])
def test_blocks_may_be_added_to_as_many_as_the_rule_needs(home: Path, profile: str, blocks: int) -> None:
    plan = json.loads(called(home, "plan", "--profile", profile, "--max-blocks", "20", "--json").stdout)
    found = {(stage["blocks"], stage["max_blocks"], stage["precision"]) for stage in plan["stages"]}
    assert found == {(blocks, 20, 0.05)}


@pytest.mark.parametrize(
    ("arguments", "executors", "told"),
    [
        (
            ("--arm", "virtual:-Xmx2g"),
            "virtual, virtual+xmx2g",
            "virtual is measured, too, since it is what virtual+xmx",
        ),
        (("--executor", "virtual", "--arm", "virtual:-Xmx2g"), "virtual, virtual+xmx2g", None),
        (("--executor", "virtual"), "virtual", "there is only virtual; add --executor liberty."),
        (("--executor", "liberty"), "liberty", "there is only liberty; add --executor virtual."),
        (("--executor", "virtual+carriers-2"), "virtual+carriers-2", "add --executor virtual."),
        (
            ("--executor", "platform", "--executor", "fixed-8"),
            "platform, fixed-8",
            "only fixed-8 and platform; add --ex",
        ),
        (("--executor", "virtual", "--executor", "fixed-8"), "virtual, fixed-8", None),
        (("--aa", "virtual"), "virtual, virtual-aa", None),
    ],
)
def test_an_arm_has_what_it_is_compared_with_or_that_is_told(
    home: Path, arguments: tuple[str, ...], executors: str, told: str | None
) -> None:
    shown = called(home, "plan", *arguments).stdout
    assert re.search(rf"│ {re.escape(executors)} +│", shown)
    assert told in shown if told else "measured, too" not in shown and "No executors" not in shown


def test_a_profile_can_be_measured_without_its_stopping_rule(home: Path) -> None:
    plan = json.loads(called(home, "plan", "--profile", "capacity", "--no-stopping", "--json").stdout)
    assert (plan["blocks"], plan["max_blocks"], plan["precision"]) == (5, 5, None)
    assert plan["estimated_max_s"] == plan["estimated_s"]


def test_plan_says_what_is_measured_before_loads_are_known(home: Path) -> None:
    asked = ("plan", "--profile", "matrix", "--jdk", "temurin-25", "--cpus", "1")
    assert "First 4 forks, one for each condition" in " ".join(called(home, *asked).stdout.split())
    assert "temurin-25" in called(home, *asked).stdout, "no name of a JDK is broken on a narrow terminal"
    first = json.loads(called(home, *asked, "--json").stdout)["measured_first"]
    assert "banking.temurin-25.liberty.cpus-1.burn-0us.saturate-50" in first
    assert json.loads(called(home, "plan", "--json").stdout)["measured_first"] == []


def test_plan_shows_the_stages_and_their_times(home: Path) -> None:
    told = " ".join(called(home, "plan", "--profile", "mission").stdout.split())
    first, second = told.index("profile quick"), told.index("profile mission")
    assert first < told.index("3 cells, 9 forks in 3 blocks, 10 rounds of 1 s in turns each") < second
    assert second < told.index("First 2 forks, one for each condition") < told.index("2 stages, one after the other")
    assert "6 cells, 18 forks in 3 blocks, 1 window of 12 s each" in told
    plan = json.loads(called(home, "plan", "--profile", "mission", "--seed", "3", "--json").stdout)
    quick, half = plan["stages"]
    assert (quick["profile"], quick["measured_first"], half["profile"]) == ("quick", [], "mission")
    assert plan["estimated_s"] == pytest.approx(quick["estimated_s"] + half["estimated_s"])
    alone = json.loads(called(home, "plan", "--profile", "quick", "--seed", "3", "--json").stdout)
    assert plan["order"][:9] == alone["order"] and quick["cells"] == alone["stages"][0]["cells"]


def test_plan_lists_what_this_host_has_no_cpus_for(home: Path) -> None:
    plan = json.loads(called(home, "plan", "--profile", "full", "--jdk", "temurin-25", "--json").stdout)
    planned = {label.rsplit("#", 1)[0] for label in plan["order"]}
    missing = {entry["cell_id"] for entry in plan["not_testable"]}
    assert planned | missing == {cell["cell_id"] for cell in plan["cells"]}
    assert not planned & missing
    assert all("for the driver; this host has" in entry["reason"] for entry in plan["not_testable"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "--profile", "quik"), 'did you mean "quick"'),
        (("plan", "--executor", "virtal"), 'did you mean "virtual"'),
        (("plan", "--aa", "virtal"), '--aa: "virtal" is not an executor; did you mean "virtual"'),
        (("plan", "--aa", "liberty-aa"), "--aa liberty-aa: give the executor itself, liberty"),
        (
            ("plan", "-p", "matrix", "--workload", "mp-ping", "--wait", "2ms"),
            " --wait 2000us: mp-ping calls no",
        ),
        (
            ("plan", "--wait", "2 min"),
            '--wait: "2 min" is no valid time (allowed: 300us, 20ms, 1s, or a number of µs)',
        ),
        (("plan", "--burn", "11s"), "--burn: 11s is too long; at most 10 s are allowed"),
        (("plan", "--load", "saturate-x"), '--load: "saturate-x" is not known; did you mean "saturate-N"?'),
        (("plan", "--load", "5000"), '--load: "5000" has no unit; did you mean "5000/s", which is a rate, or "satu'),
        (("plan", "--load", "5000000000/s"), '--load: "rate-5000000000": N of rate-N is a whole number from 1 to 10,'),
        (("plan", "--load", "saturate-0"), '"saturate-0": N of saturate-N is a whole number from 1 to 1,000,000\n'),
        (("plan", "--load", "share-250"), '"share-250": N of share-N is a whole number from 1 to 200\n'),
        (("plan", "--workload", "bank-sql-1.5"), '"bank-sql-1.5": N of bank-sql-N is a whole number from 1 to 1,000\n'),
        (("plan", "--executor", "fixed-0"), '--executor: "fixed-0": N of fixed-N is a whole number from 1 to 99,999\n'),
        (("plan", "--aa", "virtual-bounded-123456"), "N of virtual-bounded-N is a whole number from 1 to 99,999\n"),
        (("plan", "--executor", "virtual+carriers-0"), '"carriers-0": N of carriers-N is a whole number from 1 to '),
        (("plan", "--cpu-quota", "0.0001"), "--cpu-quota: 0.0001 is 0.1m; whole thousandths of a CPU are needed, fr"),
        (("plan", "--executor", "virtual+carrier-2"), 'did you mean "carriers-N"?'),
        (
            ("plan", "--server", "jetty", "--workload", "banking"),
            "Eclipse Jetty has plain Servlets only, and banking needs more",
        ),
        (
            ("plan", "--server", "tomcat"),
            "--server tomcat: of the executors of quick it has virtual alone; say which are compared: "
            "--executor tomcat --executor tomcat-virtual",
        ),
        (("plan", "--workload", "spawn-work"), "spawn-work has no liberty (it has "),
        (("plan", "--jdk", "temurin-52"), 'did you mean "temurin-2'),
        (("plan", "--precision", "0.05"), "--max-blocks"),
        (("plan", "--blocks", "1001"), "--blocks: found 1001; it should be less than or equal to 1000"),
        (("plan", "--window-s", "1e6"), "--window-s: found 1000000.0; it should be less than or equal to 86400"),
        (
            ("plan", "--blocks", "5", "--max-blocks", "6", "--precision", "1"),
            "--precision: found 1.0; it should be less than 1",
        ),
        (
            ("plan", "--blocks", "3", "--max-blocks", "8"),
            "--blocks 3: where --max-blocks lets more be added, at least 5 co",
        ),
        (("plan", "--profile", "article", "--max-blocks", "2"), "--blocks 2 alone measures exactly 2"),
        (("plan", "--profile", "article", "--no-stopping", "--max-blocks", "9"), "--no-stopping adds no blocks"),
        (("plan", "--no-stopping", "--precision", "0.1"), "--no-stopping adds no blocks"),
        (
            ("plan", "--cpus", "999"),
            "none of the 3 cells can be measured here:\n  cpus = 999 needs 999 + 1 for the dri",
        ),
        (("run", "--cpus", "999"), "none of the 3 cells can be measured here:\n  cpus = 999 needs 999 + 1 for "),
        (("plan", "--cpu-quota", "2"), "\n  mp-ping-quota-2000m: a quota of 2 CPUs limits nothing on 1 CPU\n"),
        (
            ("plan", "--jdk", "temurin-21", "--executor", "virtual+poller-mode-1", "--json"),
            "\n  virtual+poller-mode-1 on temurin-21: JDK 21 (hotspot) is not known to have jdk.pollerMode\n",
        ),
        (
            ("plan", "--server", "open-liberty-23.0.0.9", "--workload", "mp-ping-mp61"),
            "\n  open-liberty-23.0.0.9 has no microProfile-6.1, which mp-ping-mp61 needs\n",
        ),
        (("ask", "--yes", "--blocks", "9"), "ask decides that itself, by --budget: drop --blocks, or use `matrix run`"),
        (("ask", "--yes", "--budget", "soon"), '--budget: "soon" is no valid time (allowed: 90s, 10m, 2h)'),
        (("scenarios", "delay-ram"), 'did you mean "delay-ramp"'),
        (("report", "/no/such/run"), "/no/such/run: not a run"),
        (("summary", "/no/such/run", "--markdown"), "/no/such/run: neither the folder of a run nor the id of one in "),
        (("summary",), "no run there yet"),
        (("run", "--resume", "--run", "/proc/no-such"), "/proc/no-such: no run there"),
        (("run", "--resume", "-p", "quick", "--cpus", "1", "--no-stopping"), "drop --profile, --cpus, --no-stopping\n"),
        (("jdks", "fetch", "temurin-52"), "temurin-52"),
        (("jdks", "--json", "update", "temurin-25"), "--json lists the catalogue: update does not take it"),
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
    """Preparing takes minutes, and so do capacities; `--resume` would go on with an older run."""
    home = make_project(tmp_path / "project")
    stored(home / "results" / "older", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1)))
    RunStore.create(home / "results" / "20260101T000000Z-matrix")
    done = called(home, "run", "--resume")
    assert done.returncode == 1
    assert "results/20260101T000000Z-matrix: stopped before it had a run.json" in done.stderr
    assert f"again with --run {home / 'results' / '20260101T000000Z-matrix'}" in done.stderr
    assert called(home, "summary").returncode == 0, "there is nothing to sum up of the other one"


@pytest.mark.parametrize("command", [("report",), ("summary",), ("summary", "--markdown")])
@pytest.mark.parametrize("fault", ["damaged", "missing"])
def test_a_cell_file_that_is_lost_is_told_and_exit_code_3(
    home: Path, tmp_path: Path, command: tuple[str, ...], fault: str
) -> None:
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
    shape = replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1)
    store = stored(tmp_path / "runs" / "run", synthetic_run(tmp_path / "made-up", shape))
    done = called(home, "report", str(store.directory), "--records-at", f"{tmp_path}=https://example.org/")
    assert done.returncode == 1
    assert done.stderr == f"matrix: --records-at {tmp_path}: none of the runs that are shown lies in it\n"


def test_the_end_of_a_run_tells_lost_files_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))
    store = RunStore.create(tmp_path / "run")
    store.save_run(loaded.run)
    store.save_cell(loaded.cells[0])
    project = Project(root=ROOT, work=tmp_path)
    assert conclude(project, store, tmp_path / "site", Console(file=StringIO())) == 3
    assert loaded.cells[1].key.cell_id in capsys.readouterr().err
    store.save_cell(loaded.cells[1])
    assert conclude(project, store, tmp_path / "site", Console(file=StringIO())) == 0


def test_a_terminal_that_is_not_utf_8_is_shown_what_it_can_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_project(tmp_path / "project")
    stored(home / "results" / "run", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=2, windows=1)))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    for arguments in (("summary",), ("summary", "--markdown")):
        done = matrix(home, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
    assert called(home, "report").returncode == 0
    table = subprocess.run(
        matrix_command("export"), env={**os.environ, "MATRIX_HOME": str(home)}, capture_output=True, check=True
    )
    (written,) = (home / "site" / "runs").glob("*/results.csv")
    assert table.stdout == written.read_bytes(), "data is no text for a terminal"


def test_what_the_system_refuses_is_one_message(home: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            matrix_command("schema"),
            env={**os.environ, "MATRIX_HOME": str(home)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "matrix: No space left on device\n")


def test_the_site_stands_before_anything_is_printed(tmp_path: Path) -> None:
    store = stored(tmp_path / "run", synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=2, windows=1)))
    terminal = Console(file=TextIOWrapper(BytesIO(), "latin-1"))
    with pytest.raises(UnreadableError, match="UnicodeEncodeError"):
        conclude(Project(root=ROOT, work=tmp_path), store, tmp_path / "site", terminal)
    assert (tmp_path / "site" / "index.html").is_file()


def test_a_broken_matrix_toml_names_the_key(home: Path, tmp_path: Path) -> None:
    text = (home / "matrix.toml").read_text().replace('executor = ["liberty", "virtual"]', 'executor = ["virtal"]')
    (tmp_path / "matrix.toml").write_text(text)
    done = called(tmp_path, "plan")
    assert done.returncode == 1
    assert f"{tmp_path}/matrix.toml: " in done.stderr
    assert 'did you mean "virtual"' in done.stderr


STEERING = "\x1b[31m\x9b2J\x07\u202e\r"
SHOWN = r"\x1b[31m\x9b2J\x07\u202e\r"


def test_what_steers_a_terminal_is_shown_as_text(tmp_path: Path) -> None:
    """Wherever it comes from: options, configuration or results, in errors and in tables."""
    home = make_project(tmp_path / "project")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "matrix.toml").write_text('["\\u001b[31m\\u009b2J\\u0007\\u202e\\r"]\n')
    shape = replace(QUICK, jdks=(STEERING,), blocks=2, windows=1, run_id=f"run{STEERING}")
    stored(home / "results" / "run", synthetic_run(tmp_path / "made-up", shape))
    told = [called(home, "plan", "--executor", STEERING), called(broken, "plan"), called(home, "summary", STEERING)]
    told += [called(home, "summary", "run"), called(home, "summary", "run", "--markdown"), called(home, "report")]
    for done in told:
        text = done.stdout + done.stderr
        assert not set(text) & set(STEERING.replace("[31m", "").replace("2J", "")), done.args
        assert "site: " in text or SHOWN in text.replace(r"\\", "\\").replace(r"\[", "["), done.args


def test_a_folder_without_a_project_is_told(tmp_path: Path) -> None:
    done = called(tmp_path, "plan")
    assert done.returncode == 1
    assert "no matrix.toml" in done.stderr


def test_scenarios_lists_all_and_of_one_says_what_was_published(home: Path) -> None:
    listed = called(home, "scenarios")
    assert listed.returncode == 0
    assert "delay-ramp" in listed.stdout and "infoq-memory" in listed.stdout and "source:" not in listed.stdout
    none = listed.stdout.partition("repeated by none: ")[2]
    assert "infoq-profile" in none and "delay-ramp" not in none
    one = called(home, "scenarios", "delay-ramp").stdout
    assert "infoq" not in one and "repeated by no scenario" not in one
    assert "delay-ramp-platform: " in one and "1,100 requests/s" in one
    assert "not checked: Threads run out at a rate that follows from how many there may be" in one
    assert "our inference: 1,200 requests/s of 200 ms take 240 threads" in one
    assert "source: Java Virtual Threads: An opportunity to simplify high-load programming, 2024-04-17 (no addr" in one
    memory = called(home, "scenarios", "infoq-memory").stdout
    assert (
        "checked by peak RSS with a tenth more load (saturate-660 over saturate-600), the pool: 0.75 ± 10 %" in memory
    )


def test_servers_with_a_quota_are_planned_fork_after_fork(home: Path) -> None:
    """As they are measured: each in a group of its own."""
    assert "10 rounds of 1 s in turns" in called(home, "plan").stdout
    told = called(home, "plan", "--cpu-quota", "0.5", "--protocol", "interleaved").stdout
    assert "2 windows of 3 s each" in told
    assert "3 cells: fork after fork, not in turns: its server runs in a box, which others would share." in told


def test_schema_is_a_json_schema(home: Path) -> None:
    schema = json.loads(called(home, "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    committed = json.loads((ROOT / "matrix.schema.json").read_text())
    assert schema == committed, "run .venv/bin/matrix schema > matrix.schema.json: editors read it"


def test_jdks_lists_every_entry_with_what_becomes_of_it(home: Path) -> None:
    rows = json.loads(called(home, "jdks", "--json").stdout)
    entries = json.loads((home / "jdks.json").read_text())["entries"]
    assert [row["id"] for row in rows] == [entry["id"] for entry in entries]
    for row in rows:
        assert row["here"]["status"] in ("ready", "fetchable", "unavailable")
        assert row["here"]["detail"]


def test_help_has_the_exit_codes_of_the_docs() -> None:
    table = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    codes = re.findall(r"^\| (\d+(?:, \d+)*) \| ", table, re.MULTILINE)
    assert len(codes) == 7
    assert [code for code in codes if f" {code} " not in " ".join(EXIT_CODES.split())] == []


def test_version() -> None:
    done = subprocess.run(matrix_command("--version"), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("matrix ")
