"""The programs of bench/ use this package as it is: none is found to be broken on the day that it is needed."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

from tests.support.project import ROOT

PROGRAMS = sorted((ROOT / "bench").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_what_a_program_imports_of_this_package_is_there(program: Path) -> None:
    wanted = [
        (node.module, name.name)
        for node in ast.walk(ast.parse(program.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jdkmatrix")
        for name in node.names
    ]
    missing = [f"{module}.{name}" for module, name in wanted if not _exists(module, name)]
    assert missing == []


def test_there_are_programs() -> None:
    assert {"provoke", "drivers", "site_bench"} <= {program.stem for program in PROGRAMS}


def _exists(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.util.find_spec(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False
