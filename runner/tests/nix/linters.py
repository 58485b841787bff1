"""Linters for Nix, built from their crates once for each version that linters.toml pins: CACHE/tools/NAME-VERSION/.

Cargo keeps what it downloads where it always does.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

from jdkmatrix.provision.cache import atomic_dir, cache_dir, locked
from jdkmatrix.provision.command import run_logged

_PINS = Path(__file__).with_name("linters.toml")
# They read a few files of ours: optimising them takes longer than they ever run.
_NOT_OPTIMISED = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_LTO": "off"}


def linter(name: str) -> Path:
    """Return the program `name`, "deadnix" or "nixfmt", at its pinned version; build it if it is not there yet.

    Raises:
        MatrixError: cargo is missing, or fails.
    """
    pin = tomllib.loads(_PINS.read_text(encoding="utf-8"))[name]
    target = cache_dir() / "tools" / f"{name}-{pin['version']}"
    program = target / "bin" / name
    with locked(target):
        if not program.is_file():
            shutil.rmtree(target, ignore_errors=True)
            with atomic_dir(target) as staging:
                objects = staging / "target"
                run_logged(
                    ["cargo", "install", "--locked", "--quiet", "--root", str(staging), "--version", pin["version"],
                     pin["crate"]],
                    what=f"building {name} from the crate {pin['crate']} {pin['version']}",
                    cwd=staging, env={**os.environ, **_NOT_OPTIMISED, "CARGO_TARGET_DIR": str(objects)},
                )  # fmt: skip
                shutil.rmtree(objects)
    return program
