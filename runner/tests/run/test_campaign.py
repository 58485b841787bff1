"""How a run adds blocks, stops, and goes on after it was cut off; the forks are made up, their files are real."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CountLoad, RateLoad
from jdkmatrix.fork.fork_record import ForkDraft, Listener
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run import campaign as module
from jdkmatrix.run.blocks import comparisons, decide
from jdkmatrix.stats.stopping import StoppingRules, Why
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.outline import outline
from jdkmatrix.store.runs import RunStore
from tests.support.builders import cell, key
from tests.support.records import altered
from tests.support.served_campaign import (
    CELLS,
    NOISY,
    QUIET,
    Heard,
    Script,
    assert_no_block_is_split,
    campaign,
    cells_in,
    made_up,
    measured,
    run,
    script,
    store,
)

__all__ = ["script", "store"]


def blocks_of(store: RunStore, cell_key: CellKey) -> int:
    found = store.read_cell(cell_key)
    return len(found.forks)


def test_blocks_are_added_where_figures_scatter_and_only_there(store: RunStore, script: Script) -> None:
    heard = Heard()
    order = run(campaign(store, blocks=5, max_blocks=8, precision=0.02), heard)
    assert (blocks_of(store, QUIET), blocks_of(store, NOISY)) == (5, 8)
    assert list(order) == script.labels
    cells = [found for one in CELLS if (found := store.read_cell(one))]
    sequences = {f"{c.key.cell_id}#{f.fork}": f.sequence for c in cells for f in c.forks}
    assert [sequences[label] for label in order] == list(range(1, 5 * 4 + 3 * 2 + 1))
    assert heard.added[0] == 5 * 4
    assert sum("one more" in text for text in heard.decisions) == 3
    enough = [text for text in heard.decisions if text.endswith("enough")]
    assert len(enough) == 1
    assert "cpus-1" in enough[0]


def test_where_a_load_has_no_figure_to_compare_no_block_is_added(store: RunStore, script: Script) -> None:
    run(campaign(store, load=CountLoad(count=100), blocks=5, max_blocks=20), Heard())
    assert len(script.labels) == 5 * len(CELLS)


@pytest.mark.parametrize("cut_after", [1, 7, 20, 21, 23])
def test_a_run_that_was_cut_off_goes_on_with_whole_blocks_to_the_same_end(
    tmp_path: Path, script: Script, cut_after: int
) -> None:
    whole = run(campaign(RunStore.create(tmp_path / "whole"), blocks=5, max_blocks=8), Heard())
    script.labels.clear()
    store = RunStore.create(tmp_path / "cut")
    script.cut_after = cut_after
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=5, max_blocks=8), Heard())
    script.cut_after = None
    order = run(campaign(store, session=2, blocks=5, max_blocks=8), Heard())
    # Blocks here are of two forks: of an odd number, the last one's partner is missing.
    begun = cut_after % 2
    again = [f"{label}.2" for label in whole[cut_after - begun : cut_after]]
    assert list(order) == script.labels == [*whole[:cut_after], *again, *whole[cut_after:]]
    for found in cells_in(store):
        assert len(found.attempts) == sum(label.startswith(f"{found.key.cell_id}#") for label in again)
        assert all(one.reasons[-1].code == "block-measured-again" for one in found.attempts)
    assert_no_block_is_split(store)
    script.labels.clear()
    heard = Heard()
    assert run(campaign(store, session=3, blocks=5, max_blocks=8), heard) == order
    assert script.labels == []
    assert set(heard.added) == {0}


def test_cells_are_whole_on_disk_and_in_outline_in_memory(store: RunStore, script: Script) -> None:
    """A run of thousands of forks would not fit into memory otherwise."""
    begun = campaign(store, blocks=2)
    measured_now = begun.open(print)
    begun.measure(measured_now, Heard())
    whole = {cell.key: cell for cell in cells_in(store)}
    assert whole.keys() == set(CELLS)
    for cells in (measured_now, begun.open(print)):
        assert cells == {key: outline(cell) for key, cell in whole.items()}
    for one in whole.values():
        assert [fork.command for fork in one.forks] == [("java",)] * 2
        assert one.parameters["application"] == "mp-ping"
    assert len(script.labels) == 2 * 4


def test_a_file_that_is_damaged_while_a_run_goes_on_costs_series_and_no_figure(
    store: RunStore, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.cell_path(QUIET)

    def damaging(setup: ForkDraft, listener: Listener) -> Fork:
        if setup.planned.key == QUIET and setup.planned.fork == 3:
            path.write_text("{")
        return script(setup, listener)

    monkeypatch.setattr(module, "measure_fork", damaging)
    heard = Heard()
    run(campaign(store, blocks=4), heard)
    for one in cells_in(store):
        lost = 2 if one.key == QUIET else 0
        assert [fork.command for fork in one.forks] == [()] * lost + [("java",)] * (4 - lost)
        assert all(fork.windows for fork in one.forks)
    assert path.with_name(f"{path.name}.unreadable-1").read_text() == "{"
    assert [text for text in heard.decisions if str(path) in text and "unreadable-1" in text]


def cells_of(*executors: str, blocks: int = 6) -> list[CellRecord]:
    keys = [key(executor) for executor in executors]
    return [cell(one, tuple(made_up(one, block) for block in range(1, blocks + 1))) for one in keys]


def test_later_blocks_do_not_change_what_was_decided() -> None:
    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert decide(cells_of("liberty", "virtual", blocks=8), 5, rules) == decide(
        cells_of("liberty", "virtual", blocks=5), 5, rules
    )


def test_each_is_compared_with_its_reference() -> None:
    found = comparisons(cells_of("liberty", "virtual", "liberty-aa"), 6)
    assert set(found) == {"virtual", "liberty-aa"}
    assert found["liberty-aa"][1] == found["virtual"][1]


def test_without_the_servers_pool_virtual_threads_are_compared_with_the_pool_beside_them() -> None:
    found = comparisons(cells_of("virtual", "platform"), 6)
    assert set(found) == {"virtual"} and set(found["virtual"][1].values()) != {1.0}


def test_without_a_reference_each_must_be_known_by_itself() -> None:
    found = comparisons(cells_of("fixed-8", "platform"), 6)
    assert set(found) == {"fixed-8", "platform"}
    assert set(found["platform"][1].values()) == {1.0}
    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert decide(cells_of("virtual"), 5, rules).why is Why.PRECISE


def test_a_comparison_whose_arms_lost_different_numbers_of_forks_holds_nobody_up() -> None:
    """It is not judged, however many blocks come; what was lost later is not looked at."""
    load = RateLoad(rate_rps=1000, connections=10)
    short = Reason(code="rate-missed", message="missed")

    def forks(lost: set[int]) -> tuple[Fork, ...]:
        def made(block: int) -> Fork:
            one = measured(block, 1000.0)
            missed = tuple(window.model_copy(update={"shortfalls": (short,)}) for window in one.windows)
            return altered(one, {"windows": missed}) if block in lost else one

        return tuple(map(made, range(1, 9)))

    def cells(**lost: set[int]) -> list[CellRecord]:
        keys = (key(executor) for executor in ("liberty", "virtual"))
        return [cell(one, forks(lost.get(one.executor, set()))).model_copy(update={"load": load}) for one in keys]

    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert comparisons(cells(virtual={1, 2, 3}), 5) == {"virtual": ({}, {})}
    assert decide(cells(virtual={1, 2, 3}), 5, rules).stop
    both = comparisons(cells(virtual={1}, liberty={2}), 5)
    assert [set(arm) for arm in both["virtual"]] == [{3, 4, 5}, {3, 4, 5}]
    assert not decide(cells(virtual={1}, liberty={2}), 5, rules).stop, "three pairs are fewer than the least"
    assert set(comparisons(cells(virtual={6, 7}), 5)["virtual"][0]) == {1, 2, 3, 4, 5}


def test_a_constant_rate_is_compared_by_cpu_time() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    forks = (measured(1, 1000.0), measured(2, 1000.0, Status.FAILED))
    cells = [cell(key(e), forks).model_copy(update={"load": load}) for e in ("liberty", "virtual")]
    assert comparisons(cells, 2) == {"virtual": ({1: 1000.0}, {1: 1000.0})}


def test_between_two_blocks_there_is_time_and_never_beside_a_fork(store: RunStore, script: Script) -> None:
    ready, labels = campaign(store, blocks=2), script.labels
    ready.measure(ready.open(print), Heard(), lambda: labels.append("between"))
    blocks = [list(members) for label, members in groupby(labels, key=lambda label: label == "between") if not label]
    assert [len(block) for block in blocks] == [2, 2, 2, 2] and labels.count("between") == 3
    assert all(len({label.rpartition("#")[2] for label in block}) == 1 for block in blocks)
