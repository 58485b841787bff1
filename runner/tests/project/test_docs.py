"""Everything that README.md, docs/ and docstrings link to or name is there."""

from __future__ import annotations

import ast
import re
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.jdks_doubles import fake_jdk
from tests.support.machines import DESKTOP
from tests.support.project import ROOT, called, make_project

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"(?<![\w/])(?:runner|workloads|nix|bench|\.github)/[\w./-]*[\w-]")
PACKAGE = ROOT / "runner" / "jdkmatrix"
MODULE_PATH = re.compile(r"(?<![\w./-])[\w-]+/[\w/-]+\.py\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings outside code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(page.read_text()):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken_links(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_that_are_named_exist(page: Path) -> None:
    named = set(CODE_PATH.findall(page.read_text()))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_modules_that_docstrings_name_exist() -> None:
    nodes = (node for file in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    texts = (ast.get_docstring(node) for node in nodes if isinstance(node, DOCUMENTED))
    named = {path for text in texts for path in MODULE_PATH.findall(text or "")}
    assert named and [one for one in sorted(named) if not any((base / one).exists() for base in (PACKAGE, ROOT))] == []


def test_a_broken_link_and_a_broken_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One heading\n[a](#one-heading) [b](#another) [c](page.md#one-heading) [d](missing.md)\n")
    assert broken_links(page) == ["#another", "missing.md"]


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words after `matrix` of every command line that the page shows."""
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            program, *words = shlex.split(line.removeprefix("sudo "), comments=True) or [""]
            if program == ".venv/bin/matrix":
                yield words


COMMANDS = [words for page in PAGES for words in commands(page)]
QUESTIONS = [words[1:] for words in COMMANDS if words[0] in ("run", "plan") and "--resume" not in words]


@pytest.mark.parametrize("words", COMMANDS, ids=shlex.join)
def test_every_option_that_the_docs_show_is_one(words: list[str]) -> None:
    done = called(ROOT, *words, "--help")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", QUESTIONS, ids=shlex.join)
def test_runs_of_the_docs_can_be_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setattr("jdkmatrix.cli.planning.read_topology", lambda: DESKTOP)
    monkeypatch.chdir(tmp_path)
    for name in ("my.jar", "app.war"):
        zipfile.ZipFile(tmp_path / name, "w").close()
    fake_jdk(tmp_path / "~" / "jdks" / "mine", "25.0.1+8")
    done = called(make_project(tmp_path / "project"), "plan", *arguments)
    assert done.returncode == 0, done.stderr


def test_the_docs_show_how_to_measure() -> None:
    assert len(QUESTIONS) > 15 and {words[0] for words in COMMANDS} >= {"ask", "compare", "doctor", "export", "report"}


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text()
    before, _, rest = readme.partition("<!-- verdicts -->")  # a table that a program writes
    assert len(f"{before}{rest.partition('<!-- /verdicts -->')[2]}".splitlines()) <= 145
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= set(LINK.findall(readme))
