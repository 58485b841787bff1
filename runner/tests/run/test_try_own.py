"""Messages about the first start of a user's application."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import pytest

from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.run.try_own import after_words, try_once


def test_a_slow_start_is_said_to_make_every_fork_longer() -> None:
    assert after_words(4.25) == "4.2 s after its start"
    assert after_words(60.0) == "60.0 s after its start; each fork takes some 50 s more than estimated"


def test_a_temporary_folder_that_no_server_can_run_in_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "#1"))
    (tmp_path / "#1").mkdir()
    instance = mock.Mock(server=mock.Mock(kind=server_kind("open-liberty")))
    with pytest.raises(MatrixError, match=r"#1/.*: Open Liberty cannot run below a folder with '#' in its name"):
        try_once(mock.Mock(instance=instance, load=SaturateLoad(connections=1)), "/")
    instance.lay_out.assert_not_called()
