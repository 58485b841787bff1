"""The table at the end of a run."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from jdkmatrix.cli.summary import summary_table
from jdkmatrix.records import CellRecord, Fork, Status, Window
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
