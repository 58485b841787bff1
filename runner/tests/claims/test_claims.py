"""claims.toml: what is in it, what its model allows, and what is said about mistakes."""

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
from jdkmatrix.claims.load import load_claims, load_claims_of, parse_claims
from jdkmatrix.claims.words import MINUS, amount, of_whom, source_line, without_figures
from jdkmatrix.config.explain import ConfigError
from jdkmatrix.provision.project import Project
from jdkmatrix.records.claims import ClaimSource, PublishedFigure
from tests.support.project import ROOT
from tests.support.shipped import MATRIX

REGISTRY = load_claims(ROOT / "claims.toml")
DATA: dict[str, Any] = {
    "schema": 1,
    "sources": {"one": {"title": "One", "date": "2024", "url": "https://example.org/one"}},
    "claims": {
        "fast": {
            "source": "one",
            "condition": "2 CPUs",
            "published": "It is fast.",
            "not_checked": "Nobody has one.",
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


def test_a_scenario_repeats_a_claim_or_the_claim_says_why_none_does() -> None:
    named = {claim_id for scenario in MATRIX.scenarios.values() for claim_id in scenario.published}
    silent = {claim_id for claim_id, claim in REGISTRY.claims.items() if claim.not_repeated is None}
    assert silent == named, "name it in `published` of a scenario, or say in its `not_repeated` why none repeats it"
    assert [record.id for record in REGISTRY.not_repeated()] == [one for one in REGISTRY.claims if one not in named]


def test_a_folded_text_is_one_line() -> None:
    """A backslash that is forgotten at the end of a line leaves a line break in the text."""
    for record in REGISTRY.records(REGISTRY.claims):
        fields = (record, record.source, *record.figures)
        texts = [text for one in fields for _, text in one if isinstance(text, str)]
        assert len(texts) >= 5
        assert not [text for text in texts if re.search(r"\s\s|\n", text)]


def test_a_number_is_one_that_was_printed_or_says_how_it_was_read() -> None:
    """Ratios apart, which are printed as "20-30% lower"."""
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
    wanted = {path.name for path in (project.matrix, project.claims, project.jdks, project.templates)}
    assert wanted <= set(re.findall(r'"([^"]+)"', (ROOT / "nix" / "source.nix").read_text()))


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        (mistaken("claims", "fast", "sorce", value="one"), ["claims.fast.sorce", 'did you mean "source"']),
        (mistaken("claims", "fast", "source", value="on"), ["claims.fast.source", '"on"', 'did you mean "one"']),
        (mistaken("claims", "fast", "source"), ["claims.fast.source: missing"]),
        (mistaken("claims", "fast", "condition", value=""), ["claims.fast.condition", "found ''"]),
        (mistaken("claims", "bad id", value=DATA["claims"]["fast"]), ["claims.bad id", "pattern"]),
        (mistaken("sources", "two", value={"title": "Two", "no_url": "lost"}), ["sources.two", "no claim is from it"]),
        (mistaken("sources", "one", "url", value="javascript:1"), ["sources.one: url", "https:// and http://"]),
        (mistaken("sources", "one", "url", value="https:///one"), ["sources.one: url", '"https:///one"', "a host"]),
        (mistaken("sources", "one", "url"), ["sources.one", "url, or no_url"]),
        (mistaken("sources", "one", "no_url", value="gone"), ["sources.one", "url, or no_url"]),
        (mistaken("claims", "fast", "figures"), ["claims.fast", "no figures", 'only = "graph"']),
        (mistaken("claims", "fast", "only", value="graph"), ["claims.fast", 'only = "graph"', "this one has 2"]),
        (mistaken("claims", "fast", "only", value="grph"), ["claims.fast.only", 'did you mean "graph"']),
        (mistaken("claims", "fast", "inference", value=""), ["claims.fast.inference", "found ''"]),
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
    text = (ROOT / "claims.toml").read_text()
    path.write_text(re.sub(r"claims\.infoq-memory(?=[\].])", "claims.infoq-memry", text))
    with pytest.raises(ConfigError) as caught:
        load_claims_of(MATRIX, path, matrix_toml=ROOT / "matrix.toml")
    assert str(caught.value).startswith(
        f'{ROOT}/matrix.toml: scenarios.infoq-memory.published[0]: "infoq-memory" is not known; '
        'did you mean "infoq-memry"? (allowed: infoq-cpu, '
    )
    assert str(caught.value).endswith("; it is not in claims.toml")


def test_a_claim_that_a_scenario_names_cannot_say_that_none_does(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    text = (ROOT / "claims.toml").read_text()
    head, found, tail = text.partition("[claims.delay-ramp-platform]\n")
    path.write_text(head + found + tail.replace("not_checked =", "not_repeated =", 1))
    with pytest.raises(ConfigError) as caught:
        load_claims_of(MATRIX, path, matrix_toml=ROOT / "matrix.toml")
    assert str(caught.value) == (
        f'{ROOT}/matrix.toml: scenarios.delay-ramp.published[0]: "delay-ramp-platform" has a `not_repeated` in '
        "claims.toml, which says why no scenario repeats it; take one out"
    )


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
        ("sources", "one", "url"),
        ("sources", "one", "no_url"),
        ("sources", "one", "inference"),
        ("claims",),
        ("claims", "fast"),
        ("claims", "fast", "note"),
        ("claims", "fast", "only"),
        ("claims", "fast", "not_repeated"),
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


ADDRESSES = st.none() | st.sampled_from(["https://example.org/one", "http://example.org", "ftp://example.org", "one"])
WORDS = st.none() | st.text(min_size=1)


@given(ADDRESSES, WORDS)
def test_a_source_has_one_address_or_one_reason(url: str | None, no_url: str | None) -> None:
    table = {"title": "One"} | {k: v for k, v in {"url": url, "no_url": no_url}.items() if v is not None}
    data = copy.deepcopy(DATA) | {"sources": {"one": table}}
    if (url is None) != (no_url is None) and (url is None or url.startswith("http")):
        assert parse_claims(data, "claims.toml").records(["fast"])[0].source.model_dump(exclude_none=True) == table
    else:
        with pytest.raises(ConfigError, match=r"^claims\.toml: sources\.one: "):
            parse_claims(data, "claims.toml")


@given(st.integers(0, 2), st.none() | st.sampled_from(["graph", "words"]))
def test_a_claim_has_figures_or_says_what_it_has(figures: int, only: str | None) -> None:
    data = copy.deepcopy(DATA)
    claim = data["claims"]["fast"]
    claim["figures"] = claim["figures"][:figures]
    if only is not None:
        claim["only"] = only
    if (figures == 0) == (only is not None):
        record = parse_claims(data, "claims.toml").records(["fast"])[0]
        assert (len(record.figures), without_figures(record) is None) == (figures, figures > 0)
    else:
        with pytest.raises(ConfigError, match=r"^claims\.toml: claims\.fast: .*only = "):
            parse_claims(data, "claims.toml")


@given(st.text(), st.text())
def test_only_addresses_of_the_web_become_links(scheme: str, rest: str) -> None:
    for text in (rest, f"{scheme}:{rest}", f"{scheme}://{rest}", f"https://{rest}"):
        if is_web_address(text):
            assert re.match(r"(?i)https?://[^/?#\s]", text) and not re.search(r"[\s\x00-\x1f\x7f]", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/a?b=c#d", True),
        ("http://example.org", True),
        ("HTTPS://example.org", True),
        ("https:example.org", False),
        ("//example.org", False),
        ("javascript:alert(1)//https://example.org", False),
        ("java\nscript:alert(1)", False),
        ("https://exa mple.org", False),
        ("https://[", False),
        ("https://", False),
        ("data:text/html,https://example.org", False),
        ("", False),
    ],
)
def test_an_address_of_the_web_has_its_scheme_and_a_host(text: str, expected: bool) -> None:
    assert is_web_address(text) is expected


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
