"""The steps of matrix.yml for the releases and the site."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT
from tests.support.workflow_steps import run_step, shell_step

# https://docs.github.com/en/repositories/releasing-projects-on-github/about-releases
RELEASES = """
if program == "gh":
    root, (verb, *rest) = Path(os.environ["RELEASES"]), arguments[1:]
    if verb == "list":
        print("\\n".join(sorted(path.name for path in root.iterdir() if not (path / ".draft").exists())))
        sys.exit()
    here = root / rest[0]
    if verb == "view":
        assert rest[1:] == ["--json", "isDraft", "--jq", ".isDraft"]
        if not here.is_dir():
            sys.exit("release not found")
        print(str((here / ".draft").exists()).lower())
    files = [Path(word) for word in rest[1:] if word.startswith("parts/")]
    if verb == "create" and not (files and "UPLOADS_FAIL" in os.environ):
        here.mkdir()
        (here / ".draft").touch()
    if verb in ("create", "upload"):
        for file in files:
            assert "UPLOADS_FAIL" not in os.environ
            assert not (verb == "create" and "CUT_OFF" in os.environ)
            assert file.stat().st_size < 2 * 1024**3
            shutil.copy(file, here)
        assert not files or len(list(here.iterdir())) <= 1000
    if verb == "create" or "--draft=false" in rest:
        (here / ".draft").unlink(missing_ok=True)
    if verb == "download":
        found = list(here.glob(rest[2]))
        for file in found:
            shutil.copy(file, rest[4])
        sys.exit(not found)
    sys.exit()
"""


def handed_over(checkout: Path, run: Path, name: str) -> None:
    """Pack a run as the job that measures leaves it."""
    packed = checkout / "packed" / "complete" / f"{name}.tar.gz"
    packed.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packed, "w:gz") as file:
        file.add(run, arcname=name)


@pytest.mark.parametrize("part_bytes", [2_000_000_000, 1000])
def test_runs_are_kept_without_their_logs_and_come_back_whole(tmp_path: Path, home: Path, part_bytes: int) -> None:
    """Each run is a release of its own, so that no release ever has too many files; a run that is too large for one
    file has several."""
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


def test_a_release_that_was_cut_off_is_published_when_the_job_is_run_again(tmp_path: Path, home: Path) -> None:
    """`gh release create` makes a draft, and publishes it when it has all files."""
    (run,) = (home / "results").iterdir()
    env = {"RELEASES": str(tmp_path / "releases"), "SITE_CELLS": "99", "PART_BYTES": "2000000000"}
    (tmp_path / "releases").mkdir()
    handed_over(tmp_path / "add", run, "20250102T000000Z-one")
    for how in ({**env, "CUT_OFF": "yes"}, env):
        added = run_step(shell_step("Add them to the releases"), tmp_path / "add", does=RELEASES, env=how)
        assert (added.code != 0) == ("CUT_OFF" in how), added.output
    run_step(shell_step("Fetch the newest runs"), tmp_path / "site", does=RELEASES, env=env)
    assert [path.name for path in (tmp_path / "site" / "kept").iterdir()] == ["20250102T000000Z-one"]


def test_a_published_release_stays_as_it_is_when_its_job_is_run_again(tmp_path: Path, home: Path) -> None:
    """An upload that fails must not take away what everybody could already fetch."""
    (run,) = (home / "results").iterdir()
    env = {"RELEASES": str(tmp_path / "releases"), "PART_BYTES": "2000000000"}
    (tmp_path / "releases").mkdir()
    handed_over(tmp_path / "add", run, "20250102T000000Z-one")
    run_step(shell_step("Add them to the releases"), tmp_path / "add", does=RELEASES, env=env)
    published = tmp_path / "releases" / "results-20250102T000000Z-one"
    before = sorted(published.iterdir())
    again = run_step(
        shell_step("Add them to the releases"), tmp_path / "add", does=RELEASES, env={**env, "UPLOADS_FAIL": "yes"}
    )
    assert again.code == 0, again.output
    assert sorted(published.iterdir()) == before and not (published / ".draft").exists()


def test_the_site_is_made_of_the_runs_of_all_machines(tmp_path: Path, home: Path) -> None:
    (run,) = (home / "results").iterdir()
    for name in ("iron-run", "steel-run"):
        here = tmp_path / "kept" / name
        here.parent.mkdir(exist_ok=True)
        RunStore.create(here)
        for file in (run / "cells").iterdir():
            (here / "cells" / file.name).write_bytes(file.read_bytes())
        (here / "run.json").write_text((run / "run.json").read_text().replace(run.name, name))
    kept = min((ROOT / "results" / "reference").iterdir())
    shutil.copytree(kept, tmp_path / "results" / "reference" / kept.name)
    ended = run_step(shell_step("Write the site of these runs"), tmp_path, home=home)
    assert ended.code == 0, ended.output
    page = next((home / "site" / "runs" / "iron-run" / "cells").glob("*.html")).read_text("utf-8")
    assert "https://github.com/someone/something/releases/tag/results-iron-run" in page
    brief = next((home / "site" / "runs" / kept.name / "cells").glob("*.html")).read_text("utf-8")
    assert f"https://github.com/someone/something/tree/main/results/reference/{kept.name}" in brief
