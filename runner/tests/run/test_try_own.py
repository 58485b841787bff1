"""What the first start of an application of the user says."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.own import find_own
from jdkmatrix.run.try_own import after_words, changed_own, try_once
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.builders import key
from tests.support.fork_setups import usual
from tests.support.shipped import MATRIX

PARTS: dict[str, Any] = {"driver": None, "instance": None, "mix": None}


def test_a_slow_start_is_said_to_make_every_fork_longer() -> None:
    assert after_words(4.25) == "4.2 s after its start"
    assert after_words(60.0) == "60.0 s after its start; each fork takes some 50 s more than estimated"


def test_files_that_are_built_anew_meanwhile_are_seen(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "my.war", "w") as archive:
        archive.writestr("a", "file")
    own = OwnApplication.model_validate({"war": "my.war", "path": "/"})
    inputs = {"own_files": dict(find_own(own, tmp_path).sha256)}
    mine = usual(inputs=inputs, workload=MATRIX.workloads["mp-ping"].model_copy(update={"own": own}))
    setups = {key(workload="mine"): ServedCell(**mine, **PARTS), key(): ServedCell(**usual(), **PARTS)}
    assert changed_own(setups, tmp_path) == []
    with zipfile.ZipFile(tmp_path / "my.war", "a") as archive:
        archive.writestr("another", "file")
    assert changed_own(setups, tmp_path) == ["mine"]


def test_a_temporary_folder_that_no_server_can_run_in_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "#1"))
    (tmp_path / "#1").mkdir()
    instance = mock.Mock(server=mock.Mock(kind=server_kind("open-liberty")))
    with pytest.raises(MatrixError, match=r"#1/.*: Open Liberty cannot run below a folder with '#' in its name"):
        try_once(mock.Mock(instance=instance, load=SaturateLoad(connections=1)), "/")
    instance.lay_out.assert_not_called()
