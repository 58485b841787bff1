"""The commands `matrix doctor`, `--tune` and `--restore`."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jdkmatrix.cli import examining, tuning
from jdkmatrix.cli.main import app
from jdkmatrix.doctor import tuning as writing
from jdkmatrix.doctor.base import HostChange
from jdkmatrix.doctor.catalogue import PROPERTIES
from jdkmatrix.doctor.tuned import ARM_FILE
from jdkmatrix.doctor.tuning import Step, settings
from jdkmatrix.errors import MatrixError
from tests.support.doctor_host import CPU, FIXABLE, make_host, read
from tests.support.project import matrix_command

GOVERNOR, GOVERNORS = (f"{CPU}/cpufreq/policy{n}/scaling_governor" for n in ("1", "*"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jdkmatrix.cli.tuning.os.geteuid", lambda: 0)


def test_json_has_every_field_and_the_exit_code_of_its_verdict() -> None:
    done = subprocess.run(matrix_command("doctor", "--json"), capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert done.returncode == examining.EXIT[report["verdict"]]
    assert {"name", "verdict", "found", "why", "advice", "changes"} == set(report["checks"][0])
    assert {check["verdict"] for check in report["checks"]} <= {"ready", "noisy", "unfit", "not shown"}
    assert {check["name"] for check in report["checks"]} >= {"CPUs", "memory", "machine"}
    assert report["facts"]["kernel"]


@pytest.mark.parametrize(
    ("changes", "code", "verdict"),
    [({}, 0, "ready"), (FIXABLE, 2, "unfit"), ({"proc/loadavg": "9.00 9 9 1/85 1"}, 1, "noisy")],
)
def test_the_table_fits_on_80_columns_and_markdown_has_all_rows_the_worst_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    changes: dict[str, str], code: int, verdict: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "80")
    host = make_host(tmp_path, changes)
    monkeypatch.setattr(examining, "this_host", lambda: host)
    assert examining.show(as_json=False) == code
    printed = capsys.readouterr().out
    assert max(len(line) for line in printed.splitlines()) <= 80
    assert "…" not in printed, "no word is cut"
    assert f"This host is {verdict} (" in printed
    assert ("can change 12 settings; --restore" in " ".join(printed.split())) == (changes is FIXABLE)
    assert examining.show(as_markdown=True) == code
    heading, _, about, _, *table = capsys.readouterr().out.splitlines()
    assert heading.startswith(f"### This host is {verdict} (")
    assert about
    verdicts = [row.split(" | ")[1] for row in table[2:]]
    assert len(verdicts) == len(PROPERTIES)
    assert verdicts == sorted(verdicts, key=["unfit", "noisy", "not shown", "ready"].index)
    assert verdicts[0] == verdict or verdict == "ready"


@pytest.mark.parametrize("option", ["--tune", "--restore"])
def test_without_root_one_line_says_so(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.setattr("jdkmatrix.cli.tuning.os.geteuid", lambda: 1000)
    done = CliRunner().invoke(app, ["doctor", option])
    told = f"{option} writes to /proc and /sys, which only root may do: sudo .venv/bin/matrix doctor {option}"
    assert (done.exit_code, done.stderr) == (1, f"matrix: {told}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tune", "--restore"], "one of --json, --markdown, --tune and --restore"),
        (["--markdown", "--json"], "one of --json, --markdown, --tune and --restore"),
        (["--tune", "--json"], "one of --json, --markdown, --tune and --restore"),
        (["--yes"], "--yes answers the question that --tune asks"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["doctor", *arguments])
    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    ("answer", "why"),
    [(io.StringIO("y\n"), "add --yes"), *((Terminal(no), "nothing was changed") for no in ("", "n\n", "\n"))],
)
def test_with_nobody_to_ask_or_a_no_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: io.StringIO, why: str
) -> None:
    monkeypatch.setattr("sys.stdin", answer)
    host = make_host(tmp_path, FIXABLE)
    with pytest.raises(MatrixError, match=why):
        tuning.tune_host(yes=False, host=host, state=tmp_path / "tuned.json")
    assert read(tmp_path, GOVERNOR) == "powersave\n"
    assert not (tmp_path / "tuned.json").exists()


@pytest.mark.usefixtures("as_root")
def test_a_run_that_begins_while_tune_asks_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host, measuring = make_host(tmp_path, FIXABLE), iter([False, True])
    monkeypatch.setattr(tuning, "this_host", lambda: host)
    monkeypatch.setattr(tuning, "is_measuring", lambda: next(measuring))
    before = read(tmp_path, GOVERNOR)
    with pytest.raises(MatrixError, match="a run is measuring"):
        tuning.tune_host(yes=True, state=tmp_path / "tuned.json")
    assert read(tmp_path, GOVERNOR) == before and not (tmp_path / "tuned.json").exists()


@pytest.mark.usefixtures("as_root")
def test_what_a_killed_run_had_set_is_not_taken_for_what_tune_found(tmp_path: Path) -> None:
    host, state, arm = make_host(tmp_path, FIXABLE), tmp_path / "tuned.json", tmp_path / ARM_FILE.name
    found, changes = read(tmp_path, GOVERNOR), [HostChange(f"/{GOVERNOR}", "schedutil", "an arm")]
    writing.tune(host, writing.steps(host, changes), arm)
    with pytest.raises(MatrixError, match=f"a run that was killed .*: /{GOVERNOR}; `matrix doctor --restore`"):
        tuning.tune_host(yes=True, host=host, state=state)
    assert read(tmp_path, GOVERNOR) == "schedutil" and not state.exists()
    assert tuning.restore_host(host=host, states=[arm, state]) == 0
    assert tuning.tune_host(yes=True, host=host, state=state) == 0
    assert tuning.restore_host(host=host, states=[arm, state]) == 0
    assert read(tmp_path, GOVERNOR) == found.strip()


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("asked", [True, False])
def test_tune_then_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", Terminal("y\n") if asked else io.StringIO())
    host, state = make_host(tmp_path, FIXABLE), tmp_path / "tuned.json"
    assert tuning.tune_host(yes=not asked, host=host, state=state) == 0
    assert read(tmp_path, GOVERNOR) == "performance"
    printed = capsys.readouterr().out
    assert "(2 files)" in printed
    assert "12 of 12 settings changed" in printed
    assert tuning.tune_host(yes=True, host=host, state=state) == 0
    assert "Nothing that --tune may change" in capsys.readouterr().out
    assert tuning.restore_host(host=host, states=[state]) == 0
    assert "12 put back" in capsys.readouterr().out
    assert read(tmp_path, GOVERNOR) == "powersave"
    assert tuning.restore_host(host=host, states=[state]) == 0
    assert "Nothing to restore" in capsys.readouterr().out


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(("refused", "changed", "told", "restored"), [
    ("/", 0, f"/{GOVERNORS} (2 files): not changed: not permitted", "12 already so.\n"),
    (f"/{GOVERNOR}", 11, f"/{GOVERNOR}: not changed: not permitted", "12 put back, 1 already so.\n"),
])  # fmt: skip
def test_a_setting_of_which_a_file_could_not_be_written_is_listed_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    refused: str, changed: int, told: str, restored: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "200")
    write = writing._write
    monkeypatch.setattr(
        writing, "_write", lambda host, file, text: "not permitted" if refused in file else write(host, file, text)
    )
    host, state = make_host(tmp_path, FIXABLE), tmp_path / "tuned.json"
    assert tuning.tune_host(yes=True, host=host, state=state) == 1
    printed = capsys.readouterr().out
    assert f"{changed} of 12 settings changed" in printed
    assert told in printed
    assert tuning.restore_host(host=host, states=[state]) == 0
    assert capsys.readouterr().out == restored


def test_one_setting_is_told_in_the_singular(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    host = make_host(tmp_path, {"proc/sys/net/core/somaxconn": "128\n"})
    monkeypatch.setattr(examining, "this_host", lambda: host)
    examining.show()
    assert "can change 1 setting; --restore undoes it." in capsys.readouterr().out


def test_files_that_differ_in_their_number_are_one_setting() -> None:
    governors = [Step(f"/{CPU}/cpufreq/policy{n}/scaling_governor", "powersave", "performance", "w") for n in range(3)]
    other = Step(f"/{CPU}/cpu7/cpuidle/state2/disable", "0", "1", "w")
    pattern = Step(f"/{CPU}/cpufreq/policy*/scaling_governor", "powersave", "performance", "w")
    files = tuple(one.file for one in governors)
    assert settings([*governors, other]) == ((pattern, files), (other, (other.file,)))
