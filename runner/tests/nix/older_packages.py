"""The packages of Python that nixpkgs has in another version than requirements.txt, so that the stand-in has them, too.

    python -m tests.nix.older_packages

prints them for `make lock`, which locks them with what they require.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from jdkmatrix.provision.cache import cache_dir, locked
from tests.support.project import ROOT

STAND_IN = Path(__file__).parent / "nixpkgs"
LOCK = STAND_IN / "python" / "requirements.txt"
VERSIONS: dict[str, str] = json.loads((STAND_IN / "versions.json").read_text())
_BUILD_ONLY = ("pbr", "setuptools")


def differing() -> dict[str, str]:
    """Return their versions in nixpkgs, by name."""
    ours = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "runner" / "requirements.txt").read_text(), re.MULTILINE))
    return {name: one for name, one in VERSIONS.items() if name not in _BUILD_ONLY and ours[name] != one}


@cache
def older_packages() -> Path:
    """Install them, with what they require, in a folder of the cache."""
    made_of = hashlib.sha256(sys.version.encode() + LOCK.read_bytes()).hexdigest()[:16]
    folder = cache_dir() / "nix" / f"python-{made_of}"
    with locked(folder):
        if not folder.is_dir():
            partial = folder.with_suffix(".part")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
            subprocess.run([*pip, "--require-hashes", "--target", partial, "-r", LOCK], check=True)
            partial.rename(folder)
    return folder


if __name__ == "__main__":
    print(*(f"{name}=={version}" for name, version in differing().items()), sep="\n")
