"""Published claims: what their files contain, what their model allows, and how mistakes are reported."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jdkmatrix.claims.address import is_web_address
from jdkmatrix.claims.load import load_claims, parse_claims
from jdkmatrix.claims.model import Registry
from jdkmatrix.claims.words import amount, of_whom, source_line
from jdkmatrix.domain.quantities import MINUS
from jdkmatrix.provision.project import Project
from jdkmatrix.reading import ConfigError
from jdkmatrix.records.claims import ClaimSource, PublishedFigure
from tests.support.changes import change
from tests.support.project import ROOT
from tests.support.shipped import REGISTRY

FILE = "one/source.toml"
DATA: dict[str, Any] = {
    "source": {"title": "One", "date": "2024", "url": "https://example.org/one"},
    "claims": {
        "fast": {
            "scenarios": ["race"],
            "condition": "2 CPUs",
            "published": "It is fast.",
            "not_checked": "Nobody has one.",
            "figures": [
                {"quantity": "p99", "arm": "virtual", "value": 2, "unit": "ms", "as_printed": "2 ms"},
                {"quantity": "throughput", "arm": "virtual", "versus": "liberty", "low": 0.5, "high": 0.6,
                 "unit": "ratio", "as_printed": "half"},
            ],
        }
    },
}  # fmt: skip


def figure(**fields: Any) -> PublishedFigure:
    return PublishedFigure.model_validate({"quantity": "p99", "unit": "s", "as_printed": "so much", **fields})


def parsed(data: dict[str, Any]) -> Registry:
    return parse_claims({FILE: data}, ["race"])


def test_a_folded_text_is_one_line() -> None:
    """A backslash that is forgotten at the end of a line leaves a line break in the text."""
    for record in REGISTRY.records(REGISTRY.claims):
        fields = (record, record.source, *record.figures)
        texts = [text for one in fields for _, text in one if isinstance(text, str)]
        assert len(texts) >= 5
        assert not [text for text in texts if re.search(r"\s\s|\n", text)]


def test_a_number_is_one_that_was_printed_or_says_how_it_was_read() -> None:
    """Ratios are exempt: they are printed as "20-30% lower"."""
    seen = 0
    for record in REGISTRY.records(REGISTRY.claims):
        for one in record.figures:
            if one.unit != "ratio" and one.inference is None:
                printed = {float(text) for text in re.findall(r"[0-9]+(?:\.[0-9]+)?", one.as_printed.replace(",", ""))}
                numbers = {number for number in (one.value, one.low, one.high) if number is not None}
                assert numbers <= printed, f"{record.id}: {one.quantity}"
                seen += 1
    assert seen > 40


def test_the_memory_of_many_threads_is_read_from_top_in_kib() -> None:
    platform, virtual = REGISTRY.claims["spawn-virt"].figures
    assert platform.value and virtual.value
    assert virtual.value == pytest.approx(4464796 / 2**20, abs=0.0005)
    assert (platform.value - virtual.value) * 2**10 / 10_000 == pytest.approx(1.03, abs=0.005)


def test_every_file_of_the_project_is_handed_to_the_package() -> None:
    project = Project(ROOT, ROOT)
    wanted = {path.name for path in (project.matrix, project.published, project.jdks, project.templates)}
    assert wanted <= set(re.findall(r'"([^"]+)"', (ROOT / "nix" / "source.nix").read_text()))


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        (change("claims/fast/scenario", "one"), ["claims.fast.scenario", 'did you mean "scenarios"']),
        (change("claims/fast/scenarios/0", "rase"), ["claims.fast.scenarios[0]", 'did you mean "race"']),
        (change("claims/fast/scenarios"), ["claims.fast", "either scenarios that repeat it, or not_repeated"]),
        (change("source"), ["source: missing"]),
        (change("claims/fast/condition", ""), ["claims.fast.condition", "found ''"]),
        (change("claims/bad id", DATA["claims"]["fast"]), ["claims.bad id", "must match"]),
        (change("source/url", "javascript:1"), ["source.url", "https:// and http://"]),
        (change("source/url", "https:///one"), ["source.url", '"https:///one"', "a host"]),
        (change("source/url"), ["source", "url, or no_url"]),
        (change("source/no_url", "gone"), ["source", "url, or no_url"]),
        (change("claims/fast/figures"), ["claims.fast", "no figures", 'only = "graph"']),
        (change("claims/fast/only", "graph"), ["claims.fast", 'only = "graph"', "this one has 2"]),
        (change("claims/fast/only", "grph"), ["claims.fast.only", 'did you mean "graph"']),
        (change("claims/fast/inference", ""), ["claims.fast.inference", "found ''"]),
        (change("source/date", "May 2024"), ["source.date", "found 'May 2024'"]),
        (change("claims/fast/figures/0/unit", "msec"), ["figures[0].unit", 'did you mean "ms"']),
        (change("claims/fast/figures/0/arm", "virtal"), ["figures[0].arm", 'did you mean "virtual"']),
        (change("claims/fast/figures/1/versus", "pools"), ["figures[1].versus", "fixed-N"]),
        (change("claims/fast/figures/1/versus", "virtual"), ["figures[1]", "another executor"]),
        (change("claims/fast/figures/1/versus"), ["figures[1]", "versus (an executor) or baseline"]),
        (change("claims/fast/figures/0/baseline", "x"), ["figures[0]", "belongs to a ratio"]),
        (change("claims/fast/figures/0/value"), ["figures[0]", "either value, or low or high"]),
        (change("claims/fast/figures/0/low", 1), ["figures[0]", "either value, or low or high"]),
        (change("claims/fast/figures/0/value", "2"), ["figures[0].value", "found '2'"]),
        (change("claims/fast/figures/0/value", True), ["figures[0].value", "found True"]),
        (change("claims/fast/figures/0/value", float("nan")), ["figures[0].value", "found nan"]),
        (change("claims/fast/figures/1/low", 0.6), ["figures[1]", "low = 0.6 is not below"]),
        (change("claims/fast/figures/1/lo", 0.6), ["figures[1].lo", 'did you mean "low"']),
        (
            change(
                "claims/fast/checks", [{"says": "s", "metric": "p99", "arm": "virtual", "where": {"burn_us": ["1*"]}}]
            ),
            ["checks[0].where.burn_us[0]", "found '1*'"],
        ),
        (change("schema", 2), ['"schema" is not known']),
        (change("claims"), ["claims: missing"]),
    ],
)
def test_a_mistake_is_told_with_its_key(mistake: Callable[[dict[str, Any]], None], expected: list[str]) -> None:
    data = copy.deepcopy(DATA)
    assert parsed(data).claims
    mistake(data)
    with pytest.raises(ConfigError) as caught:
        parsed(data)
    text = str(caught.value)
    assert text.startswith(f"{FILE}: ") and "problems" not in text
    for part in expected:
        assert part in text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"figure": 0, "tolerance": 0.1}, r"checks\[0]\.figure: found 0"),
        ({"figure": None, "low": 2, "high": 1}, r"checks\[0]: low = 2 is above high = 1"),
        ({"figure": 1, "tolerance": 0.1, "requires": [{"says": "s", "metric": "cpu-share", "low": 95, "high": 5}]},
         r"requires\[0]: low = 95 is above high = 5"),
    ],
)  # fmt: skip
def test_a_check_has_a_figure_of_its_claim_or_a_range_that_is_not_empty(fields: dict[str, Any], message: str) -> None:
    check = {"says": "p99", "metric": "p99", "arm": "virtual", "inference": "i", **fields}
    data = copy.deepcopy(DATA)
    del data["claims"]["fast"]["not_checked"]
    data["claims"]["fast"]["checks"] = [{name: value for name, value in check.items() if value is not None}]
    with pytest.raises(ConfigError, match=message):
        parsed(data)


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / FILE).write_text("source = = 1")
    with pytest.raises(ConfigError, match=rf"{FILE}: not valid TOML.*line 1"):
        load_claims(tmp_path)


def test_a_precondition_is_written_once_and_referred_to_by_its_name() -> None:
    check = {"says": "p99", "metric": "p99", "arm": "virtual", "figure": 1, "tolerance": 0.1, "inference": "A tenth."}
    busy = {"says": "busy CPUs", "metric": "cpu-share", "low": 95}
    data = copy.deepcopy(DATA)
    del data["claims"]["fast"]["not_checked"]
    data["claims"]["fast"]["checks"] = [{**check, "requires": ["busy", {**busy, "low": 50}]}]
    data["requires"] = {"busy": busy}
    ((needed, other),) = (one.requires for one in parsed(data).records(["fast"])[0].checks)
    assert (needed.says, needed.low, other.low) == ("busy CPUs", 95, 50)
    data["requires"] = {"busy": busy, "idle": busy}
    with pytest.raises(ConfigError, match=rf"^{FILE}: requires\.idle: no check of this source refers to it$"):
        parsed(data)
    data["requires"] = {"bussy": busy}
    with pytest.raises(ConfigError, match=r'claims\.fast\.checks\[0]\.requires\[0]: .*did you mean "bussy"'):
        parsed(data)


def test_a_source_may_stand_in_several_files() -> None:
    more = {"claims": {"faster": DATA["claims"]["fast"]}}
    assert list(parse_claims({FILE: DATA, "one/more.toml": more}).claims) == ["fast", "faster"]
    assert len(parse_claims({FILE: DATA, "one/more.toml": more}).sources) == 1
    for wrong, message in (
        ({"claim": {}}, r'claim: "claim" is not known; did you mean "claims"\?'),
        ({"claims": {"faster": {**DATA["claims"]["fast"], "condition": 1}}}, r"claims\.faster\.condition: found 1"),
        (DATA, rf"source: is also in {FILE}"),
    ):
        with pytest.raises(ConfigError, match=rf"one/more\.toml: (?:2 problems\n  )?{message}"):
            parse_claims({FILE: DATA, "one/more.toml": wrong})
    with pytest.raises(ConfigError, match=rf"^two/source.toml: claims\.fast: is also in {FILE}$"):
        parse_claims({FILE: DATA, "two/source.toml": DATA})


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PATHS = st.sampled_from(
    [
        *((name,) for name in ("source", "requires", "claims")),
        *(("source", name) for name in ("date", "url", "no_url", "inference")),
        *(("claims", "fast", name) for name in ("note", "only", "not_repeated", "figures")),
        *(("claims", "fast", "figures", *more) for more in ((0,), (1, "low"), (1, "more"))),
        ("claims", "fast"),
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
        registry = parsed(data)
    except ConfigError as error:
        assert str(error).startswith(f"{FILE}: ")
    else:
        registry.records(registry.claims)


@given(st.text(), st.text())
def test_only_addresses_of_the_web_become_links(scheme: str, rest: str) -> None:
    for text in (rest, f"{scheme}:{rest}", f"{scheme}://{rest}", f"https://{rest}"):
        if is_web_address(text):
            assert re.match(r"(?i)https?://[^/?#\s]", text) and not re.search(r"[\s\x00-\x1f\x7f]", text)


def test_an_address_of_the_web_has_its_scheme_and_a_host() -> None:
    found = ["https://example.org/a?b=c#d", "http://example.org", "HTTPS://example.org"]
    others = (
        "https:example.org", "//example.org", "javascript:alert(1)//https://example.org", "java\nscript:alert(1)",
        "https://exa mple.org", "https://[", "https://", "data:text/html,https://example.org", "",
    )  # fmt: skip
    assert [text for text in (*found, *others) if is_web_address(text)] == found


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
    assert source_line(ClaimSource(title="One", no_url="a leaflet")) == "One (no address: a leaflet)"
