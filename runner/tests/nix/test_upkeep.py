"""The cache does not grow with every run of the tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.nix.install import Installed, newest_nix, prepared
from tests.nix.test_nix_install import new_flake
from tests.nix.upkeep import collect, tidy


def test_what_a_newer_release_has_replaced_goes(tmp_path: Path) -> None:
    installed = Installed(suite="sid", package_version="2.34", version="2.34.8", packages={}, looked_at_s=0.0)
    (tmp_path / "sid.json").write_text(installed.model_dump_json())
    (tmp_path / "odd.json").write_text("{}")
    for name in ("sid-2.33/usr", "var/sid-2.33/store", "seeds", "var/other-1", "sid-2.34/usr/bin", "var/sid-2.34"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "var" / "sid-2.33" / "store" / "file").write_text("x")
    (tmp_path / "var" / "sid-2.33" / "store").chmod(0o500)
    tidy(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["seeds", "sid-2.34", "var"]
    assert sorted(path.name for path in (tmp_path / "var").iterdir()) == ["other-1", "sid-2.34"]
    tidy(tmp_path / "nothing")


@pytest.mark.real
def test_a_store_beyond_its_limit_is_collected_by_its_nix(tmp_path: Path) -> None:
    nix = replace(newest_nix(), folder=prepared(tmp_path / "own"))
    nix.run(["--init"], tmp_path, tool="nix-store")
    flake, _ = new_flake(tmp_path / "flake")
    built = Path(nix.run(["build", "--no-link", "--print-out-paths", flake], tmp_path).stdout.strip())
    held = collect(nix, limit_bytes=1 << 30)
    assert built.exists() and held > 0
    assert collect(nix, limit_bytes=0) == held
    assert not built.exists()
