"""Figures and words of the report: pure functions."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.catalogue import executor_kinds, server_kinds
from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.fork_figures import OverForks
from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.loads.attainment import OutcomeCounts
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.records.claims import CheckedCells, ClaimCheck
from jdkmatrix.report.blocks.inline import file_stem
from jdkmatrix.report.cells.heat import EDGES, legend, tone
from jdkmatrix.report.cells.judgements import of_forks
from jdkmatrix.report.cells.shown import half_width
from jdkmatrix.report.charts.lines import log_domain, log_ticks
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.claims.evidence import words_of
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.words.numbers import (
    apart,
    off_one,
    p_figure,
    p_value,
    ratio_interval,
    ratio_value,
    share,
    span,
    with_interval,
)
from jdkmatrix.report.words.sentences import (
    PairFinding,
    because,
    cell_words,
    change,
    family_words,
    finding,
    marked_interval,
    ratio_name,
    ratio_sentence,
    served_words,
)
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Judged, Verdict, judged
from tests.support.builders import key

RATIOS = st.floats(min_value=0.01, max_value=100)


@pytest.mark.parametrize(
    ("value", "significant", "text"),
    [(32_624, 4, "32,620"), (9.996, 3, "10.0"), (999.96, 4, "1,000"), (0.40712, 3, "0.407"), (136_449.2, 4, "136,400"),
     (0, 3, "0"), (-1234.5, 3, "\u22121,230"), (math.inf, 2, "∞")],
)  # fmt: skip
def test_digits(value: float, significant: int, text: str) -> None:
    assert digits(value, significant) == text


def over(forks: int, mean: float, low: float | None, high: float | None) -> OverForks:
    return OverForks(mean, low, high, ForkFigure(mean), ForkFigure(mean), Bound.NONE, 0, forks)


def test_shares_and_half_widths() -> None:
    assert share(0.0234).text == "2.3 %"
    assert share(0.917).text == "92 %"
    even = half_width(over(3, 100.0, 97.0, 103.0))
    assert (even.text, even.title) == ("± 3.0 %", "95 % interval of the geometric mean over 3 forks")
    assert half_width(over(2, 100.0, 25.0, 400.0)).text == "−75/+300 %"
    assert half_width(over(1, 100.0, None, None)).text == "–"
    assert half_width(over(2, 0.0, None, None)).title == "a fork’s figure is 0: arithmetic mean, without an interval"


@pytest.mark.parametrize(
    ("ratio", "value", "interval"),
    [
        (Ratio(0.8163, 0.7912, 0.8422, 5), "0.816", "0.791–0.842"),
        (Ratio(0.8163, 0.61, 1.09, 2), "0.82", "0.61–1.09"),
        (Ratio(0.8163, None, None, 1), "0.82", None),
        (Ratio(0.9955, 0.9921, 0.9989, 5), "0.996", "0.992–0.999"),
        (Ratio(1.0, 0.0012, 843.2, 2), "1.00", "0.0012–840"),
        (Ratio(15.871, 15.832, 15.911, 2), "15.87", "15.83–15.91"),
        (Ratio(16.57, 15.2, 18.1, 2), "16.6", "15.2–18.1"),
        (Ratio(16.57, None, None, 1), "16.57", None),
        (Ratio(12.0, 1.04, 138.0, 2), "12.00", "1.04–138.00"),
        (Ratio(1.056, 1.0041, 1.112, 5), "1.06", "1.004–1.11"),
        (Ratio(0.9, 0.81, 0.99962, 5), "0.90", "0.81–0.9996"),
    ],
)
def test_ratios_have_the_digits_that_their_interval_carries(ratio: Ratio, value: str, interval: str | None) -> None:
    assert (ratio_value(ratio), ratio_interval(ratio)) == (value, interval)


ENDS = [(1.02, "1.02"), (0.996, "0.996"), (1.0, "1.0"), (5.24, "5.2"), (0.12, "0.12")]


@pytest.mark.parametrize(("end", "text"), ENDS)
def test_an_end_that_is_not_1_does_not_read_as_1(end: float, text: str) -> None:
    assert off_one(end) == text


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ((9997.9, 9990.2, 10005.4), ("9,998", "9,990", "10,005")),
        ((1.0021, 0.9989, 1.0051), ("1.002", "0.999", "1.005")),
        ((0.6213, 0.58, 0.665), ("0.621", "0.580", "0.665")),
        ((39.48, 39.48, 39.48), ("39.48", "39.48", "39.48")),
        ((0.0, -0.3, 0.3), ("0.000", "−0.300", "0.300")),
        ((123456.7, 123456.6, 123456.8), ("123,457", "123,457", "123,457")),
        ((0.0, 0.0, 0.0), ("0", "0", "0")),
        ((1.5, 1.0, math.inf), ("1.50", "1.00", "∞")),
    ],
)
def test_an_interval_has_the_digits_it_carries(figure: tuple[float, float, float], words: tuple[str, str, str]) -> None:
    assert with_interval(*figure) == words


def test_no_end_reads_as_an_edge_that_it_is_not() -> None:
    assert with_interval(0.97, 0.8998, 1.05) == ("0.970", "0.900", "1.050")
    assert with_interval(0.97, 0.8998, 1.05, [0.9]) == ("0.9700", "0.8998", "1.0500")
    assert with_interval(0.97, 0.9, 1.05, [0.9, 2.0]) == ("0.970", "0.900", "1.050")
    assert with_interval(5.0, 1.0, 9.0000001, [9.0]) == ("5.00000", "1.00000", "9.00000"), "six digits at most"
    assert (apart(1.0004), apart(1.0), apart(1.0006)) == ("0.04 %", "0.0 %", "0.1 %")
    assert [p_figure(p) for p in (0.049_98, 0.05, 0.0312, 0.0004)] == ["0.04998", "0.05", "0.0312", "< 0.001"]


@given(st.tuples(*[st.floats(-1e300, 1e300) | st.sampled_from([math.nan, math.inf, -math.inf])] * 3))
def test_whatever_an_interval_is_it_can_be_told(figure: tuple[float, float, float]) -> None:
    assert all(with_interval(*figure))


def clear(value: float, width: float) -> Judged:
    """Return a ratio that scatters so little that any family would call it different."""
    return Judged(Ratio(value, value / width, value * width, 5, p_value=0.0001), 0.01, 100, Verdict.DIFFERENT)


def test_an_interval_with_1_says_no_difference_seen_and_never_same() -> None:
    one = judged(Ratio(0.97, 0.93, 1.01, 5, p_value=0.12), 0.12, 1)
    assert finding(one, THROUGHPUT) is PairFinding.NO_DIFFERENCE_SEEN
    assert ratio_sentence(THROUGHPUT, one, "virtual", "liberty") == (
        "no difference seen between virtual and liberty "
        "(ratio 0.970, 95 % interval 0.930–1.010, 5 blocks, adjusted p 0.12)."
    )
    assert because(one) == "no difference seen, the interval contains 1, adjusted p 0.12"
    assert marked_interval(one) == "0.930–1.010"


@pytest.mark.parametrize(
    ("low", "high", "relevant", "possible"),
    [
        (0.07, 5.42, 0.1, "−93 % and 5.4 times as much are possible"),
        (0.56, 1.69, 0.05, "−44 % and +69 % are possible"),
        (0.90, 1.02, 0.05, "−10 % is possible"),
        (0.98, 1.06, 0.05, "+6.0 % is possible"),
        (0.98, 1.06, 0.1, None),
        (0.951, 1.049, 0.05, None),
    ],
)
def test_a_wide_interval_is_no_equality(low: float, high: float, relevant: float, possible: str | None) -> None:
    one = judged(Ratio((low * high) ** 0.5, low, high, 3, p_value=0.6), 0.6, 1, relevant=relevant)
    expected = PairFinding.CANNOT_TELL if possible else PairFinding.NO_DIFFERENCE_SEEN
    assert finding(one, P99) is expected
    sentence = ratio_sentence(P99, one, "virtual", "liberty")
    assert sentence.startswith(f"cannot tell: {possible} (ratio " if possible else "no difference seen between")
    assert tone(one, P99) == ("blind" if possible else "even")


def test_an_interval_without_1_that_is_no_evidence_says_so_with_its_reason() -> None:
    judged = Judged(Ratio(0.93, 0.88, 0.99, 5, p_value=0.03), 0.36, 12, Verdict.NO_EVIDENCE_YET)
    assert finding(judged, CPU) is PairFinding.NO_EVIDENCE_YET
    assert ratio_sentence(CPU, judged, "virtual", "liberty") == (
        "no evidence yet of a difference between virtual and liberty "
        "(ratio 0.93, 95 % interval 0.88–0.99, 5 blocks, adjusted p 0.36)."
    )
    assert because(judged, "A/A check") == (
        "no evidence yet, although its own interval excludes 1: the page makes 12 A/A checks, adjusted p 0.36"
    )
    assert marked_interval(judged) == "0.88–0.99 *"


def test_one_pair_is_a_hint_of_the_block_that_has_both() -> None:
    """Other blocks may have been measured in which one of the two was lost."""
    one = judged(Ratio(0.82, None, None, 1), None, 0)
    assert ratio_sentence(THROUGHPUT, one, "virtual", "liberty") == (
        "18 % lower with virtual than with liberty in the only block that has both: only a hint (ratio 0.82, 1 block)."
    )


def test_how_a_page_judges_is_said_with_the_number_of_comparisons() -> None:
    assert family_words(0, 0) is None
    words = family_words(6, 1)
    assert words.startswith("6 comparisons on this page: ") and "(Holm), is below 0.05" in words
    assert words.endswith("1 A/A check, with p-values adjusted separately in the same way.")
    assert family_words(0, 2) == "2 A/A checks, with p-values adjusted for one another (Holm)."


@given(st.floats(0, 1) | st.floats(0.0495, 0.0505))
def test_a_p_value_is_shown_on_its_side_of_the_error(value: float) -> None:
    shown = p_value(value)
    if shown == "p < 0.001":
        assert value < 0.001
    else:
        assert float(shown.removeprefix("p ")) == pytest.approx(value, rel=0.0051)
        if not math.isclose(value, 0.05, rel_tol=0.001):
            assert (float(shown.removeprefix("p ")) < 0.05) == (value < 0.05)


def test_less_cpu_is_better_and_more_throughput_is() -> None:
    fewer = clear(0.8, 1.05)
    assert finding(fewer, THROUGHPUT) is PairFinding.WORSE
    assert finding(fewer, CPU) is PairFinding.BETTER
    assert change(fewer.ratio, "a", "b") == "20 % lower with a than with b"
    assert change(Ratio(3.73, 3.6, 3.9, 5), "a", "b") == "3.7 times as high with a as with b"
    assert change(Ratio(1.0, None, None, 1), "a", "b") == "just as high with a as with b"


@given(RATIOS, st.floats(min_value=1.0001, max_value=1.5))
def test_the_colour_scale_is_symmetric_on_a_logarithm(value: float, width: float) -> None:
    inverse = clear(1 / value, width)
    mirror = {"n": "d", "d": "n"}
    here = tone(clear(value, width), THROUGHPUT)
    swapped = tone(inverse, THROUGHPUT)
    # On an edge itself, binary rounding may fall to either side.
    if not any(math.isclose(max(value, 1 / value), edge, rel_tol=1e-6) for edge in (1, *EDGES)):
        assert swapped == (here if here == "even" else mirror[here[0]] + here[1])
        assert tone(inverse, CPU) == here


def test_the_legend_has_every_tone_once_with_1_in_the_middle() -> None:
    steps = legend()
    assert [one for one, _ in steps] == [
        *(f"d{level}" for level in range(len(EDGES), 0, -1)),
        "even",
        *(f"n{level}" for level in range(1, len(EDGES) + 1)),
    ]
    for expected, factor in steps[:6]:
        assert tone(clear(1 / float(factor), 1.001), THROUGHPUT) == expected


@given(RATIOS, st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.DIFFERENT]))
def test_without_a_verdict_there_is_no_colour_for_either(value: float, verdict: Verdict) -> None:
    leaning = "leans-n" if value > 1 else "leans-d"
    colourless = {Verdict.NOT_JUDGED: "unjudged", Verdict.NO_EVIDENCE_YET: leaning, Verdict.CANNOT_TELL: "blind"}
    assert tone(Judged(Ratio(value, 0.5, 2, 5, 0.5), 0.5, 3, verdict), THROUGHPUT) == colourless.get(verdict, "even")


@given(st.text(max_size=250), st.text(max_size=250))
def test_file_stems_are_safe_and_distinct(one: str, other: str) -> None:
    stem = file_stem(one)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", stem)
    assert ".." not in stem and len(stem) <= 200
    assert file_stem(stem) == stem
    if one != other:
        assert stem != file_stem(other) or stem in (one, other)


def test_moments() -> None:
    assert facts.moment("2025-01-01T12:00:00Z") == "2025-01-01 12:00 UTC"
    assert facts.moment("2025-01-01T12:00:00+02:00") == "2025-01-01 10:00 UTC"
    assert facts.moment("yesterday") == "yesterday"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(48.2, "48 s"), (65, "65 s"), (730, "12 min"), (7500, "2 h 5 min"), (12_000, "3 h 20 min"),
     (500_000, "5 d 19 h"), (1_000_000, "12 days")],
)  # fmt: skip
def test_spans_in_words(seconds: float, words: str) -> None:
    assert span(seconds) == words


@given(st.lists(st.floats(min_value=1e-4, max_value=1e6), min_size=1, max_size=20))
def test_log_axes_hold_all_values_and_have_ticks(values: list[float]) -> None:
    low, high = log_domain(values)
    assert low < min(values) and max(values) < high
    ticks = log_ticks(low, high)
    assert 1 <= len(ticks) <= 12
    assert ticks == sorted(ticks) and low * 0.99 <= ticks[0] and ticks[-1] <= high * 1.01


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ("open-liberty", "mp-ping"),
        ("open-liberty-23.0.0.10", "mp-ping on Open Liberty 23.0.0.10"),
        ("spring-boot-3.5", "mp-ping on Spring Boot 3.5"),
        ("command", "mp-ping"),
        ("of-somebody-else", "mp-ping on of-somebody-else"),
    ],
)
def test_a_server_is_called_by_its_name(server: str, words: str) -> None:
    one = key(server=server)
    assert served_words(one) == words
    assert cell_words(one) == f"{words} · temurin-25 · virtual · 1 CPU, no added work · saturate-50"
    assert ratio_name(one, "pool") == f"virtual / pool on temurin-25, {words}, 1 CPU, no added work, saturate-50"


def test_one_is_no_plural() -> None:
    assert [of_forks(OutcomeCounts(1, no, 0)) for no in (0, 1)] == ["1 of 1 fork", "1 of 2 forks"]
    for cpus, words in (((1,), "1 CPU"), ((1, 2), "1 or 2 CPUs"), ((4,), "4 CPUs")):
        check = ClaimCheck(says="s", metric="throughput", arm="virtual", figure=1, where=CheckedCells(cpus=cpus))
        assert words_of(check) == f"cell with {words} with virtual"


def test_colours_do_not_depend_on_what_was_measured() -> None:
    assert executor_order(["virtual"])[:5] == executor_order(["liberty", "fixed-50", "platform"])[:5]
    assert executor_order(["fixed-50", "fixed-10"])[-2:] == ("fixed-10", "fixed-50")
    many = executor_order(f"fixed-{size}" for size in range(10, 40))
    assert {name[0] for name in many[8::8] + many[10::8]} == {" "}, "nobody else has those of pool and virtual threads"
    assert len(set(many)) == len(many), "Vega would move all that come behind the second"


def test_the_pool_of_every_server_has_one_colour_and_its_virtual_threads_have_another() -> None:
    usual = executor_order(())
    pool, virtual = usual.index("liberty"), usual.index("virtual")
    order = executor_order([*executor_kinds(), "quarkus-aa", "fixed-50", "jetty-aa"])
    assert len(set(order)) == len(order)
    slots = {name: place % 8 for place, name in enumerate(order) if not name.startswith(" ")}
    for kind in server_kinds().values():
        assert slots[kind.virtual] == virtual
        assert slots[kind.own_pool] == (virtual if is_virtual(kind.own_pool) else pool)
    own = {name for kind in server_kinds().values() for name in (kind.own_pool, kind.virtual)}
    assert {name for name, slot in slots.items() if slot in (pool, virtual)} == own
