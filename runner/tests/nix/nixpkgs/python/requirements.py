"""Refuse a package whose wheel would require what its build does not offer, as nixpkgs does at the end of every build
of a Python package (python-runtime-deps-check-hook.py, after python-relax-deps-hook.sh).

    python requirements.py SOURCE SETTINGS

`SOURCE` is a source distribution, or a folder with a pyproject.toml. `SETTINGS` is JSON: `relax` and `remove` as
pythonRelaxDeps and pythonRemoveDeps are given, `offered` the version of each package that the build brings. A version
of null stands for one that nobody has looked up: the package is there, and that is all.
"""

import json
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from email import message_from_bytes
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name


def required(source: Path) -> list[str]:
    if source.is_dir():
        dependencies: list[str] = tomllib.loads((source / "pyproject.toml").read_text())["project"]["dependencies"]
        return dependencies
    with tarfile.open(source) as archive:
        texts = (archive.extractfile(one) for one in archive if re.fullmatch(r"[^/]+/PKG-INFO", one.name))
        about = next(text for text in texts if text is not None)
        return message_from_bytes(about.read()).get_all("Requires-Dist", [])


def named(setting: bool | list[str], name: str) -> bool:
    return setting is True or (isinstance(setting, list) and name in {canonicalize_name(one) for one in setting})


def problems(
    texts: Iterable[str], relax: bool | list[str], remove: bool | list[str], offered: Mapping[str, str | None]
) -> Iterator[str]:
    for requirement in map(Requirement, texts):
        name = canonicalize_name(requirement.name)
        if named(remove, name) or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        wanted = SpecifierSet() if named(relax, name) else requirement.specifier
        if name not in offered:
            yield f"{name} not installed"
        elif (version := offered[name]) is not None and not wanted.contains(version, prereleases=True):
            yield f"{name}{wanted} not satisfied by version {version}"


found = list(problems(required(Path(sys.argv[1])), **json.loads(sys.argv[2])))
for problem in found:
    print(f"  - {problem}", file=sys.stderr)
sys.exit(bool(found))
