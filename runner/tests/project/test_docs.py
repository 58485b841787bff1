"""README.md and docs/: what they link to and name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.project import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"(?<![\w/])(?:runner|workloads|nix|bench|\.github)/[\w./-]*[\w-]")


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of the headings outside code blocks."""
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


def test_a_broken_link_and_a_broken_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One heading\n[a](#one-heading) [b](#another) [c](page.md#one-heading) [d](missing.md)\n")
    assert broken_links(page) == ["#another", "missing.md"]


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text()
    before, _, rest = readme.partition("<!-- verdicts -->")  # a table that is written by a program
    assert len(f"{before}{rest.partition('<!-- /verdicts -->')[2]}".splitlines()) <= 145
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= set(LINK.findall(readme))
