"""The front page: answers of all runs, each with its host and its condition, and nothing beside them."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.report.cells.advice import Side, advise
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import judge_run
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.report.site.build import Built, build_site
from jdkmatrix.report.site.conditions import answering, conditions_maps, overview
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest, digest
from jdkmatrix.report.site.home import offered
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.report.site.run_pages import RunWriter
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.builders import key
from tests.support.hostile_runs import hostile_run
from tests.support.pages import Elements
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, Shape, synthetic_run, with_scenario
from tests.support.shipped import MATRIX
from tests.support.sites import background, later, site_of, stored
from tests.support.sites import built as all_of

FIVE = Shape(blocks=5, windows=1)


def opening(site: Path, *runs: LoadedRun) -> str:
    """What the front page of these runs says before anything is picked."""
    site_of(runs, site)
    return (site / "index.html").read_text("utf-8").split('id="said"')[1].split('id="map"')[0]


def test_an_answer_names_what_is_better_by_how_much_and_what_it_costs(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", FIVE)
    cells = Cells(loaded.run, loaded.cells)
    key = next(key for key in cells.keys if key.executor == "virtual")
    found = {one.figure: one for one in advise(judge_run(cells), key)}
    throughput = found[THROUGHPUT.id]
    assert throughput.side is Side.POOL
    assert throughput.sentence.startswith(
        "Keep the pool for such requests: with virtual threads throughput is 17 % lower"
    )
    assert found[CPU.id].side is Side.POOL and "with virtual threads CPU per request is " in found[CPU.id].sentence
    assert "% higher" in found[CPU.id].sentence, "one base everywhere: virtual threads over the pool"
    assert throughput.value.startswith("0.8")


REFERENCE = ROOT / "results" / "reference"


def conditions_of(run: str) -> tuple[MeasuredCondition, ...]:
    """What the front page is told of a reference run."""
    judged = JudgedRun(RunStore(REFERENCE / run).load())
    return digest(judged, run_notices(judged), "runs/r/").conditions


def test_a_headline_has_its_condition_its_base_and_its_likely_cause() -> None:
    (quick,) = conditions_of("20261124T182303Z-quick")
    throughput, cpu, p99 = quick.advice
    assert throughput.sentence == (
        "Keep the pool for requests that do nothing: with virtual threads throughput is 36 % lower (95 % interval 34 "
        "to 38 %), and CPU per request 57 % higher."
    )
    assert "with virtual threads CPU per request is 57 % higher (95 % interval 53 to 62 %)" in cpu.sentence
    assert p99.sentence == (
        "p99 is not judged in a closed loop, where a slow answer delays the next request: it was 2.50 ms with virtual "
        "threads and 1.51 ms with the pool."
    )
    assert (p99.side, p99.judged, p99.ratio) == (Side.OPEN, False, None)
    assert quick.cause == "context switches per request: 2.04 with virtual threads, 0.172 with the pool"
    assert quick.warnings == (), "neither a virtual machine nor a scenario changes this answer"


def test_a_server_that_leaves_its_cpus_unused_says_so_in_the_sentence() -> None:
    bank, servlet, _ = conditions_of("20261124T194300Z-infoq-cpu.small")
    assert bank.advice[0].sentence == (
        "Keep the pool for requests that wait 2 ms for a remote system: with virtual threads throughput at saturation "
        "is 96 % lower (95 % interval 95 to 96 %). With virtual threads the server was saturated with 8 % of its CPUs "
        "in use: probably pinned carriers (before JDK 24, waiting inside synchronized pins them)."
    )
    assert bank.cause is None, "what bounds it is no number of switches"
    assert servlet.advice[0].sentence.startswith(
        "Use virtual threads for requests that wait 2 ms for a remote system: throughput at saturation is 22 % higher "
        "than with the pool (95 % interval 14 to 30 %)"
    )


def test_a_wide_interval_is_told_as_what_is_possible() -> None:
    memory, _ = conditions_of("20261124T223347Z-infoq-memory.small")
    p99 = next(one for one in memory.advice if one.figure == P99.id)
    assert (p99.tone, p99.side) == ("blind", Side.OPEN)
    assert p99.sentence == (
        "Cannot tell: with virtual threads p99 latency is anywhere between 93 % lower and 5.4 times as high as with "
        "the pool (95 % interval)."
    )


def test_one_line_sums_up_all_conditions() -> None:
    runs = ("20261124T032617Z-matrix", "20261124T194300Z-infoq-cpu.small")
    found = [condition for run in runs for condition in conditions_of(run)]
    told = [(condition.task, condition.advice) for condition in found]
    assert overview(told) == (
        "Over all 9 conditions: with tasks of up to 100 µs, the pool is ahead in 3 of 4; with tasks of 1,000 µs, "
        "neither is ahead in any of 2; where requests wait for a remote system, the pool is ahead in 1 of 3 and "
        "virtual threads in 1."
    )
    assert overview(told[:1]) is None


def test_one_block_is_a_hint_and_no_advice(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", replace(QUICK, blocks=1))
    cells = Cells(loaded.run, loaded.cells)
    key = next(key for key in cells.keys if key.executor == "virtual")
    (first, *_) = advise(judge_run(cells), key)
    assert first.side is Side.OPEN and first.under == "one block"
    assert first.sentence.startswith("Only a hint, from one block: with virtual threads throughput is ")


def test_every_host_keeps_its_own_answer_and_an_older_one_gives_way(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", FIVE)
    runs = [
        later(loaded, "old", "2024-01-01"),
        later(loaded, "new", "2025-01-01"),
        later(loaded, "elsewhere", "2023-01-01", host="another"),
    ]
    site_of(runs, tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    rows = page.split('id="answers-table"')[1].split("</table>")[0]
    assert rows.count(" data-host=") == 2 * len(FIVE.jdks)
    assert "runs/new/cells/" in rows and "runs/elsewhere/cells/" in rows and "runs/old/" not in rows
    assert 'href="runs/old/index.html"' in page, "an older run stays in the table of runs"
    assert '<option value="another"' in page


def test_the_first_answer_is_the_newest_runs_and_needs_no_script(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", FIVE)
    said = opening(tmp_path / "site", later(loaded, "new", "2025-01-01"))
    assert (
        "Keep the pool for such requests: with virtual threads throughput is" in said
        and "5 blocks" in said
        and "2025-01-01" in said
    )


def test_what_decides_nothing_hides_no_answer_of_its_host_and_is_hidden_by_none_of_another(tmp_path: Path) -> None:
    decided = later(synthetic_run(tmp_path / "decided", FIVE), "decided", "2024-01-01")
    hint = later(synthetic_run(tmp_path / "hint", replace(QUICK, burn_us=(100,), blocks=1)), "hint", "2025-01-01")

    assert "Keep the pool for such requests: with virtual threads throughput is" in opening(
        tmp_path / "one-host", decided, hint
    )
    elsewhere = later(hint, "hint", "2025-01-01", host="another")
    assert "Only a hint, from one block" in opening(tmp_path / "two-hosts", decided, elsewhere)


def test_a_published_experiment_opens_the_site_only_where_nothing_else_decides(tmp_path: Path) -> None:
    own = later(synthetic_run(tmp_path / "own", FIVE), "own", "2024-01-01")
    elsewhere = synthetic_run(tmp_path / "repeated", replace(FIVE, burn_us=(500,)))
    repeated = with_scenario(later(elsewhere, "repeated", "2025-01-01"))

    assert "runs/own/" in opening(tmp_path / "both", own, repeated)
    assert "runs/repeated/" in opening(tmp_path / "alone", repeated)


def test_a_run_without_virtual_threads_has_pages_and_no_answer(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", replace(QUICK, executors=("liberty", "platform")))
    site_of([loaded], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "No run here compares virtual threads" in page and 'id="picker"' not in page
    assert f"runs/{loaded.run.run_id}/index.html" in page


def test_what_is_offered_can_be_asked_for() -> None:
    """Pair by pair against the planner; nothing else can be."""
    found = offered(MATRIX)
    served = {(one["workload"], one["server"]): one["waits"] for one in found.served}
    for workload, server, wait_us in product(MATRIX.workloads, MATRIX.servers, (0, 2000)):
        one = key(workload=workload, server=server, wait_us=wait_us)
        cells = [one.model_copy(update={"executor": executor}) for executor in (own_pool(server), virtual_of(server))]
        can_be = (workload, server) in served and (not wait_us or served[workload, server])
        assert all(map(MATRIX.has_cell, cells)) == can_be, cells
    assert {("mp-ping", "jetty"), ("banking", "open-liberty")} <= served.keys()
    assert {"saturate-50", "share-50", "flood"} <= set(found.values["load"])
    assert not [load for load in found.values["load"] if isinstance(MATRIX.loads[str(load)], TaskLoad)]


def test_claims_are_judged_by_every_run_that_measured_them(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", replace(FIVE, cpus=(2,)))
    site_of([loaded], tmp_path / "site")
    elements = Elements(tmp_path / "site" / "claims" / "index.html")
    assert {f"claim-{claim}" for claim in background().claims.claims} <= set(elements.ids)
    assert "No run here decides a claim." not in elements.text, "its kernel is one of those that were published"
    assert "throughput on kernels 6.x, virtual threads over the pool: 0.8" in elements.text


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Built, list[str]]]:
    """Build a site of these stores; with it, the runs whose pages were made."""

    def make(*stores: RunStore) -> tuple[Built, list[str]]:
        made: list[str] = []
        real = RunWriter.write_index

        def counting(writer: RunWriter) -> RunDigest:
            told = real(writer)
            made.append(told.run_id)
            return told

        with monkeypatch.context() as patch:
            patch.setattr(RunWriter, "write_index", counting)
            runs = [SiteRun(str(store.directory), store.load, store.stamp()) for store in stores]
            return build_site(runs, tmp_path / "site", background()), made

    return make


def test_only_a_run_that_changed_is_made_again(tmp_path: Path, built: Callable[..., tuple[Built, list[str]]]) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1))
    first = stored(tmp_path / "a", later(loaded, "a", "2024-01-01"))
    second = stored(tmp_path / "b", later(loaded, "b", "2024-01-02"))
    site, made = built(first, second)
    assert sorted(made) == ["a", "b"]
    before = {
        path.relative_to(tmp_path): path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()
    }
    again, made = built(first, second)
    assert made == [] and again.runs == site.runs
    after = {path.relative_to(tmp_path): path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert after == before
    second.cell_path(loaded.cells[0].key).write_text("{")
    changed, made = built(first, second)
    assert made == ["b"]
    assert [bool(run.damaged) for run in changed.runs] == [True, False]


def test_a_digest_that_is_damaged_or_lies_about_its_folder_is_not_believed(
    tmp_path: Path, built: Callable[..., tuple[Built, list[str]]]
) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1))
    store = stored(tmp_path / "a", later(loaded, "a", "2024-01-01"))
    built(store)
    digest = tmp_path / "site" / "runs" / "a" / "digest.json"
    kept = json.loads(digest.read_text())
    for text in ("", "[]", json.dumps({**kept, "run": {**kept["run"], "folder": "../../"}})):
        digest.write_text(text)
        _, made = built(store)
        assert made == ["a"]


def test_a_run_that_cannot_be_read_or_stands_twice_is_told_on_the_front_page(
    tmp_path: Path, built: Callable[..., tuple[Built, list[str]]]
) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=1))
    store = stored(tmp_path / "a", loaded)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    site, _ = built(store, RunStore(tmp_path / "copy"), RunStore(tmp_path / "broken"))
    assert len(site.runs) == 1 and len(site.unreadable) == 2
    page = site.index.read_text("utf-8")
    assert "is there twice" in page and "broken/run.json: not a readable result" in page


def test_hostile_results_stay_text_on_the_pages_of_all_runs(tmp_path: Path) -> None:
    one = hostile_run(tmp_path / "run")
    other = with_scenario(synthetic_run(tmp_path / "other", QUICK))
    site_of([one, other], tmp_path / "site")
    for name in ("index.html", "claims/index.html"):
        elements = Elements(tmp_path / "site" / name)
        assert not {"img", "iframe", "object", "embed"} & set(elements.tags)
        assert not [value for tag, value in elements.attributes if tag == "href" and value.startswith("javascript:")]


def test_a_run_that_moves_and_one_whose_figures_cannot_be_read_do_not_stop_the_others(
    tmp_path: Path, built: Callable[..., tuple[Built, list[str]]]
) -> None:
    """As when a reference run is shown first by itself, and then beside a copy of it among the results."""
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, blocks=1, windows=2))
    store = stored(tmp_path / "a", loaded)
    built(store)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    other = later(loaded, "other", "2024-01-01")
    broken = stored(tmp_path / "broken", other)
    path = broken.cell_path(loaded.cells[0].key)
    text = path.read_text()
    start = text.index('"histogram": "') + len('"histogram": "')
    path.write_text(f"{text[:start]}AAAA{text[start + 4 :]}")
    site, _ = built(RunStore(tmp_path / "copy"), store, broken)
    assert [run.run_id for run in site.runs] == [loaded.run.run_id]
    assert len(site.unreadable) == 2 and not (tmp_path / "site" / "runs" / "other").exists()


def test_a_run_whose_summary_cannot_be_written_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = synthetic_run(tmp_path / "made-up", FIVE)
    real = RunWriter.write_index

    def spoiling(writer: RunWriter) -> RunDigest:
        found = real(writer)
        if found.run_id != "bad":
            return found
        condition = found.conditions[0]
        spoilt = replace(condition, advice=(replace(condition.advice[0], ratio=math.nan), *condition.advice[1:]))
        return replace(found, conditions=(spoilt, *found.conditions[1:]))

    monkeypatch.setattr(RunWriter, "write_index", spoiling)
    site = all_of([later(loaded, run_id, "2024-01-01") for run_id in ("bad", "good")], tmp_path / "site")
    assert [run.run_id for run in site.runs] == ["good"]
    assert [text.partition(":")[0] for text in site.unreadable] == ["bad"]
    assert [path.name for path in (tmp_path / "site" / "runs").iterdir()] == ["good"]


def saying(run: RunDigest, run_id: str, low: float, value: float, high: float, **changes: Any) -> RunDigest:
    """A run whose first condition has this leading ratio."""
    condition = run.conditions[0]
    lead = replace(condition.advice[0], ratio=value, low=low, high=high)
    told = replace(condition, advice=(lead, *condition.advice[1:]), blocks=5)
    return replace(run, run_id=run_id, conditions=(told,), **changes)


def test_of_several_runs_the_one_that_knows_best_answers_as_all_come_to_together(tmp_path: Path) -> None:
    """0.637 known well must not give way to 0.63 of a noisy day, nor be told as if there were no other day."""
    (run,) = all_of([synthetic_run(tmp_path / "run", FIVE)], tmp_path / "site").runs
    noisy, known = saying(run, "b", 0.56, 0.63, 0.72), saying(run, "a", 0.620, 0.637, 0.655)
    found = answering([(one, one.conditions[0]) for one in (noisy, known)])
    assert (found.run.run_id, found.condition.page) == ("a", known.conditions[0].page)
    assert found.together is not None
    lead = found.advice[0]
    assert (lead.side, lead.value) == (Side.POOL, "0.637") and "% lower (95 % interval " in lead.sentence
    assert lead.low is not None and lead.high is not None and lead.sentence.startswith("Keep the pool for ")
    apart = [
        (one, one.conditions[0]) for one in (saying(run, "b", 0.75, 0.76, 0.77), saying(run, "c", 0.52, 0.53, 0.54))
    ]
    torn = answering(apart)
    assert (torn.advice[0].side, torn.advice[0].word) == (Side.OPEN, "cannot tell")
    assert torn.advice[0].sentence.startswith("Cannot tell: with virtual threads throughput is anywhere between")
    ratios = f"throughput 0.630, 0.637; together {lead.value} ({lead.under})"
    assert found.together == f"2 runs, newest first: {ratios}", "one figure, rounded once"
    alone = answering([(noisy, noisy.conditions[0])])
    assert (alone.run.run_id, alone.together) == ("b", None)
    jdk, server = run.conditions[0].jdk, run.conditions[0].server
    others: tuple[dict[str, Any], ...] = (
        {"kernel": "7.0"}, {"jdks": ((jdk, "another build"),)}, {"servers": ((server, "another release"),)},
    )  # fmt: skip
    for other in others:
        old = replace(known, **other)
        assert answering([(one, one.conditions[0]) for one in (noisy, old)]).run.run_id == "b"
    turns = replace(known, conditions=(replace(known.conditions[0], protocol="another protocol"),))
    assert answering([(one, one.conditions[0]) for one in (noisy, turns)]).run.run_id == "b"
    build = replace(known, kernel=f"{run.kernel}-2")
    assert answering([(one, one.conditions[0]) for one in (noisy, build)]).run.run_id == "a"


def test_the_page_of_a_run_with_several_conditions_opens_on_a_map_of_them(tmp_path: Path) -> None:
    """Each entry says what is found, in words and in colour, and leads to its answer without a script."""
    shape = replace(FIVE, jdks=("temurin-25",), burn_us=(0, 500), loads=("saturate-50", "rate-2000"))
    site_of([later(synthetic_run(tmp_path / "run", shape), "new", "2025-01-01")], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    opens, rest = page.split('id="conditions"')[1].split('id="picker"')
    assert "Over all 4 conditions" in page.split('id="conditions"')[0], "in one line first"
    assert re.findall(r"<h3>(.*?)</h3>", opens) == [
        f"Virtual threads / pool on open-liberty, temurin-25, 1 CPU, under {load}, by loadgen" for load in shape.loads
    ]
    links = re.findall(r'<a href="#(answer-[0-9]+)"', opens)
    assert len(links) == len(set(links)) == 4 and all(f'id="{link}"' in rest for link in links)
    assert opens.count('aria-current="true"') == 1
    assert "<small>Throughput: the pool better</small>" in opens
    assert "<small>CPU per request: " in opens
    assert re.findall(r'<th scope="col">(.*?)</th>', opens) == ["no added work", "tasks of 500 µs"] * 2
    assert 'class="js-only"' not in opens and " style=" not in opens


def test_tasks_and_delays_stand_across_and_workloads_down() -> None:
    half = [condition("mp-ping", 500, 0), condition("banking", 0, 2_000), condition("banking", 0, 20_000)]
    by_loadgen = replace(condition("banking", 0, 200_000), driver="loadgen")
    maps = conditions_maps([(f"answer-{number}", one) for number, one in enumerate([*half, by_loadgen])])
    assert [one.title.rpartition(" ")[2] for one in maps] == ["wrk2", "loadgen"], "a map for each driver"
    first = maps[0]
    assert first.columns == ("remote delay of 2 ms", "remote delay of 20 ms", "tasks of 500 µs")
    assert [(head, [entry.href for entry in entries]) for head, entries in first.rows] == [
        ("mp-ping", [None, None, "#answer-0"]), ("banking", ["#answer-1", "#answer-2", None]),
    ]  # fmt: skip
    assert conditions_maps([("answer-0", half[0])]) == (), "one condition is its own answer"


def condition(workload: str, burn_us: int, wait_us: int) -> MeasuredCondition:
    (quick,) = conditions_of("20261124T182303Z-quick")
    return replace(quick, workload=workload, burn_us=burn_us, wait_us=wait_us, load="share-50", driver="wrk2")


def test_a_single_condition_and_a_published_experiment_open_no_map(tmp_path: Path) -> None:
    one = later(synthetic_run(tmp_path / "one", replace(FIVE, jdks=("temurin-25",))), "one", "2024-01-01")
    many = synthetic_run(tmp_path / "many", replace(FIVE, burn_us=(0, 500)))
    repeated = with_scenario(later(many, "many", "2025-01-01"))
    site_of([one, repeated], tmp_path / "site")
    assert 'id="conditions"' not in (tmp_path / "site" / "index.html").read_text("utf-8")
