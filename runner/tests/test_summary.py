"""The table at the end of a run."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from jdkmatrix.cli.summary import summary_table
from jdkmatrix.records import Capacity, CapacityLoad, CellRecord, Fork, RateLoad, Status, Window
from tests.builders import cell, fork, key, latency, load_result, pressure, sut_usage


def measured(number: int, rps: float, p99_us: tuple[float, ...]) -> Fork:
    loads = [
        load_result(throughput_rps=rps, completed=round(rps), uncorrected=latency(p99), corrected=None)
        for p99 in p99_us
    ]
    windows = tuple(
        Window(index=i, t_s=0.0, load=load, sut=sut_usage(), host=pressure(), reasons=())
        for i, load in enumerate(loads, 1)
    )
    return fork(number).model_copy(update={"windows": windows})


def printed(cells: list[CellRecord]) -> list[str]:
    sink = StringIO()
    Console(file=sink, width=80).print(summary_table(cells))
    return sink.getvalue().splitlines()


def test_figures_and_ratio() -> None:
    liberty = cell(key("liberty"), (measured(1, 2000, (1000, 2000)), measured(2, 4000, (5000, 9000))))
    virtual = cell(key("virtual"), (measured(1, 1000, (1000, 2000)), measured(2, 2000, (3000, 4000))))
    lines = printed([liberty, virtual])
    one = next(line for line in lines if "liberty" in line and "2/2" in line)
    other = next(line for line in lines if "virtual" in line)
    assert "2,828" in one, "the geometric mean of 2,000 and 4,000"
    assert "3.50" in one, "p99 is the median of 1, 2, 5, 9 ms"
    assert "1,414" in other
    assert "0.50 [0.50, 0.50]" in other


def test_a_constant_rate_is_compared_by_cpu_time() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    cells = [cell(key(executor), (measured(1, 1000, (1000,)),)) for executor in ("liberty", "virtual")]
    text = printed([one.model_copy(update={"load": load}) for one in cells])
    assert "1.00 (1 block)" in "\n".join(text)
    assert "of CPU per request where the rate is constant" in " ".join("".join(text).split())


def test_the_rate_that_held_has_a_column_and_makes_the_ratio() -> None:
    load = CapacityLoad(connections=10, p99_max_us=1e4, floor_share=0.1, resolution=0.05, step_s=1)
    cells = []
    for executor, held in (("liberty", 9_000.0), ("virtual", 4_500.0)):
        found = Capacity(
            outcome="found", p99_max_us=1e4, floor_rps=1e3, ceiling_rps=1e4, held_rps=held, failed_rps=held * 1.04,
            not_monotonic_rps=(), steps=(),
        )  # fmt: skip
        forks = (measured(1, 10_000, (1000,)).model_copy(update={"capacity": found}), measured(2, 10_000, (1000,)))
        cells.append(cell(key(executor), forks).model_copy(update={"load": load}))
    lines = printed(cells)
    assert all(len(line) <= 80 for line in lines)
    assert any("holds" in line for line in lines)
    line = next(line for line in lines if "virtual" in line)
    assert "10,000" in line and "4,500" in line
    assert "0.50 (1 block)" in line, "the other fork's search came to no end"


def test_cells_without_a_figure_say_why() -> None:
    failed = cell(key("virtual"), (fork(1, Status.FAILED), fork(2, Status.INVALID)))
    line = next(line for line in printed([failed]) if "virtual" in line)
    assert "0/2" in line
    assert "failed" in line


def test_names_from_files_are_no_markup() -> None:
    hostile = cell(key("[red]evil[/]", jdk="[bold]jdk"), (measured(1, 1000, (1000,)),))
    text = "\n".join(printed([hostile]))
    assert "[bold]jdk" in text
    assert "[red]evil[/]" in text
