"""Linters for Nix, built from their crates once for each version that linters.toml pins: CACHE/tools/NAME-VERSION/.

Cargo keeps what it downloads where it always does.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import atomic_dir, cache_dir, locked
from jdkmatrix.provision.command import run_logged
from jdkmatrix.validation import unknown

_PINS = Path(__file__).with_name("linters.toml")


class Pin(Record):
    crate: str
    version: str


def linter(name: str) -> Path:
    """The program `name`, "deadnix" or "nixfmt", at its pinned version; built where it is not there yet.

    Raises:
        MatrixError: linters.toml has no such linter; cargo is missing, or fails.
    """
    pin = _pin(name)
    target = cache_dir() / "tools" / f"{name}-{pin.version}"
    program = target / "bin" / name
    with locked(target):
        if not program.is_file():
            shutil.rmtree(target, ignore_errors=True)
            _build(name, pin, target)
    return program


def _pin(name: str) -> Pin:
    pins = tomllib.loads(_PINS.read_text(encoding="utf-8"))
    if name not in pins:
        raise MatrixError(f"{_PINS.name}: linter {unknown(name, pins)}")
    return Pin.model_validate(pins[name])


def _build(name: str, pin: Pin, target: Path) -> None:
    what = f"building {name} from the crate {pin.crate} {pin.version}"
    cargo = shutil.which("cargo")
    if cargo is None:
        raise MatrixError(f"{what}: no cargo on PATH: install Rust")
    with atomic_dir(target) as staging:
        objects = staging / "target"
        run_logged(
            [cargo, "install", "--locked", "--quiet", "--root", str(staging), "--version", pin.version, pin.crate],
            what=what,
            cwd=staging,
            env={**os.environ, "CARGO_TARGET_DIR": str(objects)},
        )
        shutil.rmtree(objects)
        if not (staging / "bin" / name).is_file():
            raise MatrixError(f"{what}: it holds no program {name}")
