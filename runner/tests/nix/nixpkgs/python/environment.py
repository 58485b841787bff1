"""Make what `python.withPackages` makes: an interpreter that finds the named distributions, what they require, and no
others, with their programs beside it.

    python environment.py FOLDER NAME...

The distributions are those that the interpreter running this finds, first on PYTHONPATH; their files are linked. The
folder is a virtual environment, which is how Python lets an interpreter have other packages than the one it is a link
to.
"""

import importlib.metadata
import sys
import sysconfig
from collections.abc import Collection, Iterable
from importlib.metadata import Distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROGRAM = "#!{python}\nimport sys\n\nfrom {module} import {name}\n\nsys.exit({attribute}())\n"


def closure(names: Iterable[str]) -> Collection[Distribution]:
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        distribution = importlib.metadata.distribution(waiting.pop())
        name = canonicalize_name(distribution.name)
        if name not in found:
            found[name] = distribution
            wanted = map(Requirement, distribution.requires or ())
            waiting += [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found.values()


def make(root: Path, names: Iterable[str]) -> None:
    programs = root / "bin"
    packages = root / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    programs.mkdir(parents=True)
    packages.mkdir(parents=True)
    base = Path(sys.executable).resolve()
    for name in ("python", "python3"):
        (programs / name).symlink_to(base)
    (root / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    for distribution in closure(names):
        for name in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (packages / name).exists():
                (packages / name).symlink_to(str(distribution.locate_file(name)))
        for script in distribution.entry_points.select(group="console_scripts"):
            text = PROGRAM.format(
                python=programs / "python3",
                module=script.module,
                name=script.attr.partition(".")[0],
                attribute=script.attr,
            )
            (programs / script.name).write_text(text)
            (programs / script.name).chmod(0o755)


make(Path(sys.argv[1]), sys.argv[2:])
