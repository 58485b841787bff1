"""claims.toml: what is in it, what is said about mistakes, what a run records of it, and what its page shows."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jdkmatrix.claims.load import load_claims, load_claims_of, parse_claims
from jdkmatrix.claims.words import MINUS, amount, of_whom, source_line
from jdkmatrix.cli.scenarios import chosen_here, claim_lines
from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.explain import ConfigError
from jdkmatrix.config.load import load_matrix
from jdkmatrix.project import Project
from jdkmatrix.records import ClaimRecord, ClaimSource, PublishedFigure, RunRecord, ScenarioRecord
from jdkmatrix.report.cellstats import Cells
from jdkmatrix.report.run_view import view_run
from jdkmatrix.report.site import build_site
from tests.project import ROOT
from tests.report_fixtures import QUICK, synthetic_run, with_scenario
from tests.report_hostile import HOSTILE, hostile_run

REGISTRY = load_claims(ROOT / "claims.toml")
MATRIX = load_matrix(ROOT / "matrix.toml")
DATA: dict[str, Any] = {
    "schema": 1,
    "sources": {"one": {"title": "One", "date": "2024", "url": "https://example.org/one"}},
    "claims": {
        "fast": {
            "source": "one",
            "condition": "2 CPUs",
            "published": "It is fast.",
            "figures": [
                {"quantity": "p99", "arm": "virtual", "value": 2, "unit": "ms", "as_printed": "2 ms"},
                {
                    "quantity": "throughput",
                    "arm": "virtual",
                    "versus": "liberty",
                    "low": 0.5,
                    "high": 0.6,
                    "unit": "ratio",
                    "as_printed": "half",
                },
            ],
        }
    },
}


def mistaken(*path: str | int, value: Any = None) -> Callable[[dict[str, Any]], None]:
    def apply(data: Any) -> None:
        *parents, last = path
        for name in parents:
            data = data[name]
        if value is None:
            del data[last]
        else:
            data[last] = value

    return apply


def figure(**fields: Any) -> PublishedFigure:
    return PublishedFigure.model_validate({"quantity": "p99", "unit": "s", "as_printed": "so much", **fields})


def test_the_registry_has_everything_that_the_scenarios_name_and_more() -> None:
    named = {claim_id for scenario in MATRIX.scenarios.values() for claim_id in scenario.published}
    assert named < set(REGISTRY.claims)
    found = load_claims_of(MATRIX, ROOT / "claims.toml", matrix_toml=ROOT / "matrix.toml")
    assert [record.id for record in found.records(sorted(named))] == sorted(named)


def test_a_folded_text_is_one_line() -> None:
    """A backslash that is forgotten at the end of a line leaves a line break in the text."""
    for record in REGISTRY.records(REGISTRY.claims):
        texts = (record.published, record.condition, record.note, record.source.conditions)
        assert not [text for text in texts if text and re.search(r"\s\s|\n", text)]


def test_every_file_of_the_project_is_handed_to_the_package() -> None:
    project = Project(ROOT, ROOT)
    wanted = {path.name for path in (project.matrix, project.claims, project.jdks, project.templates)}
    assert wanted <= set(re.findall(r'"([^"]+)"', (ROOT / "nix" / "parts.nix").read_text()))


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        (mistaken("claims", "fast", "sorce", value="one"), ["claims.fast.sorce", 'did you mean "source"']),
        (mistaken("claims", "fast", "source", value="on"), ["claims.fast.source", '"on"', 'did you mean "one"']),
        (mistaken("claims", "fast", "source"), ["claims.fast.source: missing"]),
        (mistaken("claims", "fast", "condition", value=""), ["claims.fast.condition", "found ''"]),
        (mistaken("claims", "bad id", value=DATA["claims"]["fast"]), ["claims.bad id", "pattern"]),
        (mistaken("sources", "two", value={"title": "Two"}), ["sources.two", "no claim is from it"]),
        (mistaken("sources", "one", "url", value="javascript:1"), ["sources.one.url", "https:// and http://"]),
        (mistaken("sources", "one", "date", value="May 2024"), ["sources.one.date", "found 'May 2024'"]),
        (mistaken("claims", "fast", "figures", 0, "unit", value="msec"), ["figures[0].unit", 'did you mean "ms"']),
        (mistaken("claims", "fast", "figures", 0, "arm", value="virtal"), ["figures[0].arm", 'did you mean "virtual"']),
        (mistaken("claims", "fast", "figures", 1, "versus", value="pool"), ["figures[1].versus", "fixed-N"]),
        (mistaken("claims", "fast", "figures", 1, "versus", value="virtual"), ["figures[1]", "another executor"]),
        (mistaken("claims", "fast", "figures", 1, "versus"), ["figures[1]", "versus (an executor) or baseline"]),
        (mistaken("claims", "fast", "figures", 0, "baseline", value="x"), ["figures[0]", "belongs to a ratio"]),
        (mistaken("claims", "fast", "figures", 0, "value"), ["figures[0]", "either value, or low or high"]),
        (mistaken("claims", "fast", "figures", 0, "low", value=1), ["figures[0]", "either value, or low or high"]),
        (mistaken("claims", "fast", "figures", 0, "value", value="2"), ["figures[0].value", "found '2'"]),
        (mistaken("claims", "fast", "figures", 0, "value", value=True), ["figures[0].value", "found True"]),
        (mistaken("claims", "fast", "figures", 0, "value", value=float("nan")), ["figures[0].value", "found nan"]),
        (mistaken("claims", "fast", "figures", 1, "low", value=0.6), ["figures[1]", "low = 0.6 is not below"]),
        (mistaken("claims", "fast", "figures", 1, "lo", value=0.6), ["figures[1].lo", 'did you mean "low"']),
        (mistaken("schema", value=2), ["schema", '"2"', "1"]),
        (mistaken("claims"), ["claims: missing"]),
    ],
)
def test_a_mistake_is_told_with_its_key(mistake: Callable[[dict[str, Any]], None], expected: list[str]) -> None:
    data = copy.deepcopy(DATA)
    assert parse_claims(data, "claims.toml").claims
    mistake(data)
    with pytest.raises(ConfigError) as caught:
        parse_claims(data, "claims.toml")
    text = str(caught.value)
    assert text.startswith("claims.toml: ") and "problems" not in text
    for part in expected:
        assert part in text


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    with pytest.raises(ConfigError, match=r"claims\.toml: cannot be read: No such file"):
        load_claims(path)
    path.write_text("schema = = 1")
    with pytest.raises(ConfigError, match=r"claims\.toml: not valid TOML.*line 1"):
        load_claims(path)


def test_an_id_that_the_registry_has_not_is_told_with_its_scenario(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text((ROOT / "claims.toml").read_text().replace("claims.infoq-memory", "claims.infoq-memry"))
    with pytest.raises(ConfigError) as caught:
        load_claims_of(MATRIX, path, matrix_toml=ROOT / "matrix.toml")
    assert str(caught.value).startswith(
        f'{ROOT}/matrix.toml: scenarios.infoq-memory.published[0]: "infoq-memory" is not known; '
        'did you mean "infoq-memry"? (allowed: infoq-cpu, '
    )
    assert str(caught.value).endswith("; it is not in claims.toml")


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PATHS = st.sampled_from(
    [
        ("schema",),
        ("sources",),
        ("sources", "one"),
        ("sources", "one", "date"),
        ("claims",),
        ("claims", "fast"),
        ("claims", "fast", "note"),
        ("claims", "fast", "figures"),
        ("claims", "fast", "figures", 0),
        ("claims", "fast", "figures", 1, "low"),
        ("claims", "fast", "figures", 1, "more"),
    ]
)


@given(PATHS, TREES)
def test_whatever_stands_there_is_taken_or_told(path: tuple[str | int, ...], tree: Any) -> None:
    data = copy.deepcopy(DATA)
    node: Any = data
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = tree
    try:
        registry = parse_claims(data, "claims.toml")
    except ConfigError as error:
        assert str(error).startswith("claims.toml: ")
    else:
        assert registry.records(registry.claims) is not None


NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_figure_is_a_number_or_lies_between_two(value: float | None, low: float | None, high: float | None) -> None:
    ranged = low is not None or high is not None
    ordered = low is None or high is None or low < high
    fields = {"value": value, "low": low, "high": high}
    if (value is None) == ranged and ordered:
        made = figure(**fields)
        shown = amount(made).removesuffix(" s").replace(",", "").replace(MINUS, "-")
        numbers = [float(number) for number in re.findall(r"-?[0-9][0-9.e+-]*", shown)]
        assert numbers == [number for number in (value, low, high) if number is not None]
    else:
        with pytest.raises(ValidationError):
            figure(**fields)


@pytest.mark.parametrize(
    ("fields", "number", "whom"),
    [
        ({"value": 1500, "unit": "ms", "arm": "liberty"}, "1,500 ms", "liberty"),
        ({"low": 0.5, "high": 0.55, "unit": "ratio", "arm": "virtual", "versus": "liberty"}, "0.5 to 0.55",
         "virtual / liberty"),
        ({"value": 2.85, "unit": "ratio", "arm": "virtual", "baseline": "before"}, "2.85", "virtual / before"),
        ({"low": 20, "high": 30, "arm": "liberty", "versus": "virtual"}, "20 to 30 s", f"liberty {MINUS} virtual"),
        ({"high": 5}, "at most 5 s", ""),
        ({"low": 5}, "at least 5 s", ""),
        ({"value": -25.5}, f"{MINUS}25.5 s", ""),
    ],
)  # fmt: skip
def test_a_figure_in_words(fields: dict[str, Any], number: str, whom: str) -> None:
    assert (amount(figure(**fields)), of_whom(figure(**fields))) == (number, whom)


def test_a_source_in_words_has_what_is_known() -> None:
    assert source_line(ClaimSource(title="One")) == "One"
    assert (
        source_line(ClaimSource(title="One", by="Ann", date="2024-05", url="https://x"))
        == "One, Ann, 2024-05, https://x"
    )


def test_a_run_of_a_scenario_records_what_was_published(tmp_path: Path) -> None:
    options = Options("quick", {}, scenario="delay-ramp", scale="small")
    scenario = chosen_here(Project(ROOT, tmp_path), options).scenario
    assert scenario is not None
    assert [claim.id for claim in scenario.claims] == list(MATRIX.scenarios["delay-ramp"].published)
    rates = [(one.arm, one.value, one.unit) for one in scenario.claims[0].figures]
    assert rates == [("platform", 1100, "requests/s"), ("platform", 1200, "requests/s")]
    assert scenario.claims[0].source == REGISTRY.sources["high-load"]
    assert ScenarioRecord.model_validate_json(scenario.model_dump_json()) == scenario


def test_a_profile_needs_no_registry(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").symlink_to(ROOT / "matrix.toml")
    project = Project(tmp_path, tmp_path)
    assert chosen_here(project, Options("quick", {})).scenario is None
    with pytest.raises(ConfigError, match=r"claims\.toml: cannot be read"):
        chosen_here(project, Options("quick", {}, scenario="delay-ramp", scale="small"))


def test_a_record_from_before_claims_were_recorded_is_read_and_its_page_has_no_such_part(tmp_path: Path) -> None:
    loaded = with_scenario(synthetic_run(tmp_path / "run", replace(QUICK, blocks=1)))
    data = json.loads(loaded.run.model_dump_json())
    del data["scenario"]["claims"]
    loaded = replace(loaded, run=RunRecord.model_validate(data))
    assert loaded.run.scenario is not None
    assert view_run(loaded, Cells(loaded.run, loaded.cells)).published == ()
    page = build_site([loaded], tmp_path / "site", templates=ROOT / "report-templates").read_text("utf-8")
    assert "What was published" not in page and 'href="#published"' not in page


def test_the_page_shows_every_claim_below_its_source(tmp_path: Path) -> None:
    loaded = with_scenario(synthetic_run(tmp_path / "run", replace(QUICK, blocks=1)))
    first, second = view_run(loaded, Cells(loaded.run, loaded.cells)).published
    assert (first.title, first.about, first.href) == ("SYNTHETIC article", "Nobody, 2024-05", "https://example.org/a")
    assert (second.about, second.href, second.conditions) == (None, None, None)
    assert [claim.id for source in (first, second) for claim in source.claims] == ["synthetic-a", "synthetic-b"]
    ratio, rate = first.claims[0].figures
    assert (ratio.whom, ratio.amount, ratio.as_printed) == ("virtual / liberty", "0.6 to 0.9", "10-40 % lower")
    assert (rate.whom, rate.amount, rate.condition) == ("–", "1,100 requests/s", "at its end")
    page = build_site([loaded], tmp_path / "site", templates=ROOT / "report-templates").read_text("utf-8")
    block = page.split('id="published"')[1].split('id="cells"')[0]
    assert page.index('id="answers"') < page.index('id="published"') < page.index('id="cells"')
    assert 'href="#published"' in page
    for text in (
        "synthetic-a",
        "2 CPUs (synthetic)",
        "Slower at high load.",
        "0.6 to 0.9",
        "10-40 % lower",
        '<a href="https://example.org/a" rel="noreferrer">SYNTHETIC article</a>',
        "Nobody, 2024-05",
        "On one machine.",
        "<b>Note.</b> Its unit is wrong.",
    ):
        assert text in block
    assert block.count("<table") == 1


def test_hostile_claims_stay_text(tmp_path: Path) -> None:
    loaded = hostile_run(tmp_path / "run")
    (source,) = view_run(loaded, Cells(loaded.run, loaded.cells)).published
    assert source.href is None and source.claims[0].id == HOSTILE
    page = build_site([loaded], tmp_path / "site", templates=ROOT / "report-templates").read_text("utf-8")
    block = page.split('id="published"')[1].split('id="cells"')[0]
    assert block.count("&lt;img src=x") == 13
    assert "<img" not in block and "<script" not in block and "49" not in block and "javascript:" not in block


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_terminal_and_a_record_have_every_word(published: str, printed: str) -> None:
    source = ClaimSource(title="T", date="2024")
    claim = ClaimRecord(
        id="x", condition="c", published=published, figures=(figure(value=1, as_printed=printed),), source=source
    )
    text = "\n".join(claim_lines(claim))
    assert published in text and f'1 s, printed as "{printed}"' in text and "T, 2024" in text
    assert ClaimRecord.model_validate_json(claim.model_dump_json()) == claim
