"""The wrk2 parser: on real outputs (tests/samples/wrk2), and on made-up ones that are printed as wrk2 prints."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.drivers.base import DriverError
from jdkmatrix.drivers.wrk2_figures import Histogram, SpectrumRow, calibrated_s
from jdkmatrix.drivers.wrk2_output import identify, parse, version_of
from jdkmatrix.records.load_results import Errors
from tests.support.wrk2_printer import Run, rank_values
from tests.support.wrk2_stand_in import sample

RUNS = ("stall", "20s-calibration", "errors", "over-capacity", "reset", "minutes")


# ---------------------------------------------------------------- real outputs


def test_stall_corrected_and_uncorrected() -> None:
    output = parse(sample("stall"))
    assert (output.threads, output.connections) == (1, 50)
    assert (output.requests, output.non_2xx, output.errors) == (9902, 0, Errors())
    assert not output.calibrated
    corrected, uncorrected = output.corrected, output.uncorrected
    assert (corrected.mean_us, corrected.total_count) == (54_381, 9900)
    assert len(corrected.rows) == 64
    assert corrected.rows[22] == SpectrumRow(522_495, Decimal("0.950000"), 9405, Decimal("20.00"))
    latency, raw = corrected.latency(), uncorrected.latency()
    assert latency.percentiles_us == {
        "50": 2089, "90": 44_703, "99": 906_240, "99.9": 990_207, "99.99": 999_930,
    }  # fmt: skip
    assert (latency.count, latency.min_us, latency.max_us) == (9900, 1155, 999_935)
    assert raw.percentiles_us["99"] == 2190
    assert raw.mean_us == 6230


def test_calibration_leaves_only_what_came_after_it() -> None:
    output = parse(sample("20s-calibration"))
    assert output.calibrated
    assert output.corrected is not None and output.uncorrected is None
    recorded_s = 20 - calibrated_s(output.connections, output.threads)
    assert output.corrected.total_count == round(2000 * recorded_s)  # the rate was 2000/s
    assert output.requests == 39_911
    assert output.duration_s == pytest.approx(20.0007, abs=1e-4)


def test_errors() -> None:
    output = parse(sample("errors"))
    assert output.errors == Errors(connect=0, read=0, write=0, timeout=13)
    assert output.non_2xx == 188
    assert [output.non_2xx_among(completed) for completed in (0, 1, 936, 1872)] == [0, 1, 94, 188]
    assert output.corrected.percentile_us("99") == 1260


def test_a_reset_is_an_error_and_a_mere_close_is_none() -> None:
    """Every 97th request of either run ended its connection: after a close, wrk2 never uses it again."""
    assert parse(sample("reset")).errors == Errors(read=30)
    assert parse(sample("reset")).requests == 2957  # of 2960
    assert parse(sample("errors")).requests == 1872  # of 5960


def test_minutes() -> None:
    output = parse(sample("minutes"))
    assert output.runtime_s.value == 60
    assert output.duration_s == pytest.approx(60.0, abs=1e-3)  # the runtime alone says 59.7 to 60.3
    recorded_s = 60 - calibrated_s(output.connections, output.threads)
    assert output.corrected.total_count == pytest.approx(500 * recorded_s, abs=50)


def test_silence() -> None:
    """The mean of nothing, which wrk2 prints when it calibrates, is 2^63 microseconds as a C program converts it."""
    output = parse(sample("silent"))
    assert output.calibrated
    assert (output.requests, output.errors) == (0, Errors(timeout=140))
    assert output.corrected is not None and output.corrected.latency() is None
    assert output.duration_s == pytest.approx(22.11, abs=0.005)


def test_over_capacity_mixes_units() -> None:
    output = parse(sample("over-capacity"))
    latency = output.corrected.latency()
    assert latency.min_us == 17
    assert latency.percentiles_us["50"] == 1_033_215  # the summary has only "1.03s"
    assert latency.percentiles_us["99"] == 2_080_000
    assert latency.max_us == 2_187_263
    assert output.requests / output.duration_s == pytest.approx(114_713.96, abs=0.005)


@pytest.mark.parametrize("name", RUNS)
def test_spectrum_is_complete_and_rising_and_agrees_with_the_summary(name: str) -> None:
    output = parse(sample(name))
    text = sample(name)
    for histogram in (output.corrected, output.uncorrected):
        if histogram is None:
            continue
        latency = histogram.latency()
        points = latency.spectrum
        assert [p.quantile for p in points] == sorted({p.quantile for p in points})
        assert points[-1].quantile == 1.0 and points[-1].count == latency.count
        for row in histogram.rows:
            assert f"{row.value_us / 1000:12.3f} {row.percentile:12f} {row.count:12d}" in text
    for percent, rounded in output.corrected.summary_us.items():
        figure = Decimal(output.corrected.percentile_us(percent))
        assert rounded.low <= figure <= rounded.high, percent


def test_identify() -> None:
    assert (identify(sample("version")), version_of(sample("version"))) == ("wrk2", "4.0.0")
    plain = sample("plain-wrk-version")
    assert (identify(plain), version_of(plain)) == ("wrk", "debian/4.1.0-3+b2")
    assert identify(sample("usage")) is None  # no version: somebody else's usage
    assert identify("GNU bash, version 5.2") is None
    assert identify("") is None


# ---------------------------------------------------------------- outputs that must be refused


def changed(name: str, old: str, new: str) -> str:
    text = sample(name)
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed("stall", "       1.654     0.200000", "       1.454     0.200000"), r"line 21: .*1\.454.*never falls"),
        (changed("errors", "  1872 requests in 6.00s", "  1872 requests in 6.00"), "line 75: .*expected .*requests in"),
        (changed("errors", "  1872 requests in 6.00s", "  1900 requests in 6.00s"), "line 75: .*holds .1871"),
        (changed("errors", "Requests/sec:    311.97", "Requests/sec:    211.97"), "line 78: .*a rate that agrees"),
        (changed("errors", "Total count    =         1871", "Total count    =         1870"), "last count, 1871"),
        (changed("errors", "  Socket errors: connect 0", "  Socket horrors: connect 0"), "line 76: .*Requests/sec"),
        (changed("20s-calibration", "  1 threads", "  2 threads"), "line 3: .*calibration line for each of 2"),
        (changed("20s-calibration", " 99.000%", " 98.000%"), "line 11: .*the 99 % percentile"),
        (changed("over-capacity", "  1 threads and 20", "  0 threads and 20"), "line 2: .*at least one thread"),
        (changed("over-capacity", "  1 threads and 20", "  21 threads and 20"), "line 2: .*a connection for each"),
        (sample("stall") + "surplus\n", "'surplus', expected the end"),
        (sample("refused"), r"unable to connect to 127\.0\.0\.1:18199 Connection refused"),
        (sample("usage"), "printed only its usage"),
        ("number of connections must be >= threads\n" + sample("usage"), r"number of connections must be >= threads$"),
        ("", "printed nothing"),
        ("\n\n", "printed nothing"),
        (sample("errors").replace("      -nan      -nan", "      many      many"), "line 5: .*Req/Sec"),
    ],
)
def test_what_is_no_result_or_cannot_be_true_is_refused(text: str, message: str) -> None:
    with pytest.raises(DriverError, match=message):
        parse(text)


# ---------------------------------------------------------------- made-up outputs, printed as wrk2 prints


@st.composite
def runs(draw: st.DrawFn) -> Run:
    threads = draw(st.integers(1, 4))
    connections = draw(st.integers(threads, 40))
    calibrated = draw(st.booleans())
    latencies = st.lists(st.integers(1, 200_000_000) | st.integers(1, 5_000), max_size=60)
    values = draw(st.none() | latencies)
    raw = (
        None
        if values is None
        else draw(st.none() | st.lists(st.integers(1, 9_000_000), min_size=len(values), max_size=len(values)))
    )
    recorded = len(values or ())
    count = st.integers(0, 3) | st.integers(0, 10_000)
    return Run(
        asked_s=draw(st.integers(1, 600)),
        url=draw(st.sampled_from(("http://127.0.0.1:9080/ping", "http://127.0.0.1:1/a?burn_us=20&x=%20"))),
        threads=threads,
        connections=connections,
        calibration_means_us=tuple(draw(st.integers(1, 10**9)) for _ in range(threads if calibrated else 0)),
        values_us=None if values is None else tuple(sorted(values)),
        raw_values_us=None if raw is None else tuple(sorted(raw)),
        requests=recorded + draw(st.integers(0, 10**7 if calibrated or values is None else connections)),
        runtime_us=draw(st.integers(900_000, 602_000_000)),
        bytes_read=draw(st.integers(0, 10**13)),
        socket_errors=(draw(count), draw(count), draw(count), draw(count)),
        non_2xx=draw(count),
    )


def check_histogram(histogram: Histogram | None, values_us: tuple[int, ...] | None) -> None:
    assert (histogram is None) == (values_us is None)
    if histogram is None or values_us is None:
        return
    latency = histogram.latency()
    assert histogram.total_count == len(values_us)
    if not values_us:
        assert latency is None and histogram.mean_us is None
        return
    assert (latency.count, latency.min_us, latency.max_us) == (len(values_us), values_us[0], values_us[-1])
    assert latency.mean_us == pytest.approx(sum(values_us) / len(values_us), abs=0.51)
    for point in latency.spectrum:
        assert point.count == sum(value <= point.value_us for value in values_us)
        assert point.count >= (point.quantile - 1e-6) * len(values_us)
    for percent, figure in latency.percentiles_us.items():
        rounded = histogram.summary_us[percent]
        lowest, highest = rank_values(values_us, Decimal(percent))
        assert lowest - rounded.half_step <= Decimal(figure) <= highest + rounded.half_step
        assert rounded.half_step <= max(Decimal(5), Decimal(figure) / 90)


@given(runs())
def test_made_up_output_is_read_back(run: Run) -> None:
    output = parse(run.text)
    assert (output.threads, output.connections) == (run.threads, run.connections)
    assert output.calibrated == bool(run.calibration_means_us)
    errors = output.errors
    assert (errors.connect, errors.read, errors.write, errors.timeout) == run.socket_errors
    assert (output.requests, output.non_2xx) == (run.requests, run.non_2xx)
    runtime_s = Decimal(run.runtime_us) / 1_000_000
    assert output.runtime_s.low <= runtime_s <= output.runtime_s.high
    assert abs(Decimal(output.duration_s) - runtime_s) <= output.runtime_s.half_step
    rate = run.requests / runtime_s
    if rate > 1:  # 1/200 of a request per second, as a share of the rate
        assert abs(Decimal(output.duration_s) - runtime_s) <= runtime_s * Decimal("0.0101") / rate
    check_histogram(output.corrected, run.values_us)
    check_histogram(output.uncorrected, run.raw_values_us)


@given(runs(), st.data())
def test_truncation_is_an_error_or_harmless(run: Run, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(run.text) - 1))
    try:
        output = parse(run.text[:cut])
    except DriverError:
        return
    assert output == parse(run.text)


@given(st.sampled_from(RUNS), st.data())
def test_damage_is_an_error_or_a_valid_result(name: str, data: st.DataObject) -> None:
    text = sample(name)
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 40))
    damaged = text[:at] + data.draw(st.text(max_size=20)) + text[at + length :]
    try:
        output = parse(damaged)
    except DriverError as error:
        assert str(error)
        return
    assert output.duration_s >= 0
    for histogram in (output.corrected, output.uncorrected):
        if histogram:
            histogram.latency()


@given(st.text())
def test_any_text_is_a_driver_error_and_of_no_driver(text: str) -> None:
    with pytest.raises(DriverError):
        parse(text)
    assert identify(text) is None
