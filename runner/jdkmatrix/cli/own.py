"""The user's own application on the command line: the table [workloads.NAME] that its options stand for, and what
follows from such a table for the cells."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.model import Matrix
from jdkmatrix.config.own import OwnApplication
from jdkmatrix.domain.executors import aa_arm
from jdkmatrix.domain.servers import COMMAND, feature_sets
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.provision.own import find_own, placed
from jdkmatrix.validation import explain

_ARM = re.compile(r"(pool|virtual)=(.*)", re.DOTALL)
_TUNED_ARM = re.compile(r"(pool|virtual):.*", re.DOTALL)
_SERVLETS = {"JSON binding", "servlets"}


def own_table(
    command: str | None, war: Path | None, path: str | None, ready: str | None, arms: Iterable[str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the table of such a workload by name, empty if no option asks for one, and the arms that are not its own.

    The name tells what is measured: two files of the same name, or two paths, are two workloads.

    Raises:
        MatrixError: an option lacks another, or there is no such file.
    """
    own_arms: dict[str, str] = {}
    for match in filter(None, map(_ARM.fullmatch, arms)):
        if own_arms.setdefault(match[1], match[2]) != match[2]:
            raise MatrixError(
                f"--arm {match[1]}={match[2]}: an application has one arm {match[1]}, which was already given"
            )
    others = [text for text in arms if not _ARM.fullmatch(text)]
    if command is None and war is None:
        for option, given in (
            ("--path", path),
            ("--ready", ready),
            ("--arm pool= and --arm virtual=OPTIONS", own_arms),
        ):
            if given:
                raise MatrixError(f"{option}: only for an application of your own; name it with --command or --war")
        return {}, others
    if command is not None and war is not None:
        raise MatrixError("--command and --war cannot be combined: give one of them")
    if path is None:
        raise MatrixError(
            "--path: say what requests ask your application for, such as --path '/api/orders?id={random:1:1000}'"
        )
    if command is not None and (wrong := [text for text in others if not _TUNED_ARM.fullmatch(text)]):
        raise MatrixError(
            f'--arm: "{wrong[0]}" is not an arm of a command (allowed: pool= or pool=OPTIONS, virtual=OPTIONS, and '
            "with more JVM options pool:OPTIONS, virtual:OPTIONS)"
        )
    if war is not None and own_arms:
        raise MatrixError(
            "--arm pool= and virtual=: only for --command; a WAR is served by the --executor of its server"
        )
    table: dict[str, Any] = {"path": path}
    if ready is not None:
        table["ready"] = ready
    if war is not None:
        table["war"] = str(war)
    else:
        arms_placed = {arm: _placed(text, Path.cwd(), f"--arm {arm}") for arm, text in own_arms.items()}
        table |= {"command": _placed(command or "", Path.cwd()), "arms": {"pool": "", **arms_placed}}
    return {_name(table, _validated(table)): {"own": table, **({"features": _features()} if war else {})}}, others


def from_anywhere(typed: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Return a command line typed in `folder`, with absolute paths for every file and folder of what is measured."""

    def of_arm(text: str) -> str:
        if arm := _ARM.fullmatch(text):
            return f"{arm[1]}={_placed(arm[2], folder)}"
        executor, colon, options = text.partition(":")
        return f"{executor}:{_placed(options, folder, '--arm')}" if colon else text

    whole: dict[str, Callable[[str], str]] = {
        "--command": lambda text: _placed(text, folder),
        "--arm": of_arm,
        "--war": lambda text: str(folder / text),
        "--jdk-home": lambda text: str(folder / text),
    }
    found: list[str] = []
    for before, word in pairwise(("", *typed)):
        option, equals, value = word.partition("=")
        if before in whole:
            found.append(whole[before](word))
        elif equals and option in whole:
            found.append(f"{option}={whole[option](value)}")
        else:
            found.append(word)
    return tuple(found)


def with_own(options: Options, matrix: Matrix) -> Options:
    """Return the options with the defaults of such workloads' cells: no added work, and for a command its arms, with an
    A/A check of the first.

    Raises:
        MatrixError: they are asked for beside workloads of another kind.
    """
    names, found = options.values.get("workload", ()), [*own_applications(options, matrix).values()]
    if not found:
        return options
    if len(found) < len(names) or len({own.command is None for own in found}) > 1:
        asked = ", ".join(map(str, names))
        raise MatrixError(f"--workload {asked}: each is a question of its own; measure one at a time")
    values: dict[str, tuple[str | int, ...]] = {"burn_us": (0,), "wait_us": (0,)}
    if found[0].command is not None:
        arms = tuple(dict.fromkeys(arm for own in found for arm in own.arms))
        values |= {"server": (COMMAND,)}
        if options.aa is None:
            values |= {"executor": (*arms, aa_arm(arms[0]))}
    merged, tuned = {**values, **options.values}, options.values.get("executor", ())
    # Arms with options of their own, such as virtual:-XX:+UseParallelGC, come after those of the command.
    if "executor" in values and all("+" in str(one) for one in tuned):
        merged["executor"] = (*values["executor"], *tuned)
    return replace(options, values=merged)


def own_applications(options: Options, matrix: Matrix) -> dict[str, OwnApplication]:
    """Return the user's own applications among the workloads that are asked for, by name."""
    names, tables = map(str, options.values.get("workload", ())), options.tables.get("workloads", {})
    return {name: own for name in names if (own := _own(name, tables, matrix))}


def _own(name: str, tables: Mapping[str, Any], matrix: Matrix) -> OwnApplication | None:
    if name in tables:
        own = tables[name].get("own")
        return OwnApplication.model_construct(**own) if own else None
    workload = matrix.workloads.get(name)
    return workload.own if workload else None


def _placed(words: str, folder: Path, option: str = "--command") -> str:
    with refused(option, of=ValueError):
        return shlex.join(placed(shlex.split(words), folder))


def _validated(table: Mapping[str, Any]) -> OwnApplication:
    """Check the table. Raises: MatrixError: names the option that says what is wrong."""
    try:
        return OwnApplication.model_validate(table)
    except ValidationError as error:
        problems = (f"--{problem}" for problem in explain(error, OwnApplication))
        told = (one.replace("--arms.", "--arm ").replace("--path: path =", "--path") for one in problems)
        raise MatrixError("\n".join(told)) from None


def _features() -> str:
    """Return the smallest feature set with which a plain WAR can be served."""
    return next(name for name, one in feature_sets().items() if set(one.has) >= _SERVLETS)


def _name(table: Mapping[str, Any], own: OwnApplication) -> str:
    files = find_own(own, Path.cwd())
    jar = next((Path(word).stem for option, word in own.of_java() if option == "-jar"), None)
    stem = jar or next((path.stem for path in files.places.values()), "own")
    text = json.dumps([table, sorted(files.sha256.items())], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '-', stem.lower()).strip('-') or 'own'}-{digest}"
