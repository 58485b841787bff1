"""The method page: every gate that exists is described, with the limits of its run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.method.gates import GATES, Thresholds
from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.blocks.kinds import FactList
from jdkmatrix.report.html.method import COMPARED, PROVOKED, method_page, read_tried
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.store.loaded import LoadedRun
from tests.support.pages import found, section_of, table_of
from tests.support.shipped import TEMPLATES

# Limits on what counts as a result, not on which windows count.
OF_RESULTS = {"valid_windows_min", "achieved_rate_min", "error_share_max"}


def test_every_limit_has_its_gate() -> None:
    assert {limit for gate in GATES for limit in gate.limits} == set(Thresholds.model_fields) - OF_RESULTS


def test_limits_are_those_of_the_run(quick: LoadedRun) -> None:
    run = quick.run
    changed = run.model_copy(update={"matrix": {**run.matrix, "thresholds": {"foreign_sut_share_max": 0.0375}}})
    (gates,) = found(method_page(changed, *read_tried(TEMPLATES), "").blocks, FactList)
    told = gates.facts[0].value
    assert isinstance(told, Wording)
    assert {("foreign_sut_share_max", 0.0375), ("foreign_cpu_share_max", "not in this run")} <= set(
        told.values["limits"]  # type: ignore[call-overload]
    )


def test_what_was_provoked_is_what_was_recorded() -> None:
    """Every gate that refused a window is one of ours, and every refused window has its gate."""
    outcomes = [one for provoked in read_tried(TEMPLATES)[0] for one in provoked.outcomes]
    assert {one.hog_share for one in outcomes} >= {0.0, 0.05, 0.10, 0.25}
    for one in outcomes:
        assert set(one.gates) <= {code for gate in GATES for code in gate.codes}
        assert (one.refused > 0) == bool(one.gates)
        assert one.refused <= one.windows


def test_whatever_the_rate_a_foreign_load_of_a_twentieth_is_seen_and_none_is_seen_where_there_is_none() -> None:
    """The gate sees it beside the pool and beside virtual threads alike: it prefers no arm."""
    at_rates = read_tried(TEMPLATES)[0][1].outcomes
    assert len({one.case for one in at_rates}) == 8
    for one in at_rates:
        assert one.gates.get("foreign-cpu", 0) == (one.windows if one.hog_share else 0)


def test_each_record_of_what_was_tried_has_a_table_and_tells_where_it_was_made(quick: LoadedRun) -> None:
    provoked, compared = read_tried(TEMPLATES)
    page = method_page(quick.run, provoked, compared, "")
    for one, name in zip(provoked, ("provoked", "provoked_at_rates"), strict=True):
        section = section_of(page, name)
        assert len(table_of([section], "")) == len(one.outcomes)
        assert one.commit[:12] in str(section.words)
        counted = "what others’ tasks ran" if one.by_tasks else "what was neither idle nor ours"
        assert f"foreign: {counted}" in str(section.words)
    by_tasks = [one.model_copy(update={"by_tasks": True}) for one in provoked]
    told = section_of(method_page(quick.run, by_tasks, compared, ""), "provoked")
    assert "foreign: what others’ tasks ran" in str(told.words)
    section = section_of(page, "drivers")
    words = str(section.words)
    assert compared.wrk2.version in words and compared.loadgen.version in words
    for row, shown in zip(compared.rows, table_of([section], ""), strict=True):
        assert f"{row.cpu_ratio[0]:.3f}" in str(shown)
        assert {*row.cpu_us, *row.p99_us, *row.delivered} == {"wrk2", "loadgen"}


@pytest.mark.parametrize(
    ("text", "told"),
    [("a = 'x", "not valid TOML"), ("[a]", "no text: a"), ("a = '{{ x '", "unexpected"), ("", "has no judged_windows")],
)
def test_texts_that_cannot_be_used_are_told(quick: LoadedRun, tmp_path: Path, text: str, told: str) -> None:
    templates = Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
    (templates / "words.toml").write_text(text)
    with pytest.raises(MatrixError, match=told):
        pages_of(templates).render(method_page(quick.run, *read_tried(templates), ""))


@pytest.mark.parametrize(("text", "told"), [("{", "not valid JSON"), ('{"cpu": 1}', "measured_at")])
@pytest.mark.parametrize("broken", [*PROVOKED, COMPARED])
def test_a_broken_record_is_told_with_its_file(broken: str, text: str, told: str, tmp_path: Path) -> None:
    for name in (*PROVOKED, COMPARED):
        (tmp_path / name).write_bytes((TEMPLATES / name).read_bytes())
    (tmp_path / broken).write_text(text)
    with pytest.raises(MatrixError, match=told) as raised:
        read_tried(tmp_path)
    assert str(tmp_path / broken) in str(raised.value)


def test_a_folder_without_the_records_is_told(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="cannot be read"):
        read_tried(tmp_path / "nowhere")
