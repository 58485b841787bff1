"""The front page: answers of all runs, each with its host and its condition, and nothing beside them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.figures.metrics import P99
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import ServerFacts
from jdkmatrix.report.blocks.kinds import Picker, Prose
from jdkmatrix.report.cells.advice import OUTCOME, Side
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.run_page.facts import count_forks
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.site.home import Offered, _first_number, home_page, offered
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.judged_pages import cell_page_of, key_of
from tests.support.outcome_runs import refusing, scaled
from tests.support.pages import facts_of, found, plain
from tests.support.records import altered_run, with_forks
from tests.support.served_runs import QUICK, Shape, made_up, with_scenario
from tests.support.shipped import MATRIX, TEMPLATES
from tests.support.sites import built, conditions_of, digest_of, first_of, later, reference, saying
from tests.support.stepped_runs import stepped_run, with_unused_cpus

FIVE = Shape(blocks=5, windows=1)


def front(*runs: LoadedRun) -> str:
    """Return the front page of these runs, none of which judges what was published."""
    newest_first = sorted(map(digest_of, runs), key=lambda run: (run.started_at, run.run_id), reverse=True)
    return pages_of(TEMPLATES).render(home_page(tuple(newest_first), (), (), offered(MATRIX)))


def opening(*runs: LoadedRun) -> str:
    """Return what the front page says before anything is picked."""
    return front(*runs).split('id="said"')[1].split('id="map"')[0]


def test_a_headline_has_its_condition_its_base_and_its_likely_cause() -> None:
    (quick,) = conditions_of("20261124T182303Z-quick")
    throughput, cpu, p99 = quick.advice
    assert throughput.side is cpu.side is Side.POOL and throughput.value.startswith("0.6")
    assert throughput.sentence == (
        "Keep the pool for requests that do nothing: with virtual threads throughput is 36 % lower (95 % interval 34 "
        "to 38 %), and CPU per request 57 % higher."
    )
    told = "with virtual threads CPU per request is 57 % higher (95 % interval 53 to 62 %)"
    assert told in cpu.sentence, "one base everywhere: virtual threads over the pool"
    assert p99.sentence == (
        "p99 is not judged in a closed loop, where a slow answer delays the next request: it was 2.50 ms with virtual "
        "threads and 1.51 ms with the pool."
    )
    assert (p99.side, p99.judged, p99.ratio) == (Side.OPEN, False, None)
    assert quick.cause == "context switches per request: 2.04 with virtual threads, 0.172 with the pool"
    assert quick.warnings == (), "neither a virtual machine nor a scenario changes this answer"
    assert quick.better == (), "no other options were measured"


def test_an_answer_is_warned_of_what_befell_its_own_two_cells_only() -> None:
    plain_run = made_up(Shape(jdks=("temurin-25",), burn_us=(0, 100), blocks=12, windows=3))
    level, modes = [1.0] * 12, [1.0, 1.01, 0.99, 0.92, 1.005, 0.995, 1.0, 0.91, 1.01, 0.925, 1.0, 0.99]
    nothing = key_of(plain_run)
    work = nothing.model_copy(update={"burn_us": 100})
    cells = (scaled(cell, modes if cell.key == nothing else level) for cell in plain_run.cells)
    run = replace(plain_run, cells=tuple(cells))
    run = with_forks(run, lambda cell, fork: refusing(fork) if cell.key == work else fork)
    warned = {one.burn_us: one.warnings for one in digest_of(run).conditions}
    modes_seen, refused = "Forks fall into two groups", "Gates refused one arm more often"
    assert modes_seen in warned[0] and refused not in warned[0]
    assert refused in warned[100] and modes_seen not in warned[100]


def test_an_answer_is_warned_of_correlated_blocks_where_they_are_its_own() -> None:
    plain_run = made_up(Shape(jdks=("temurin-25",), burn_us=(0, 100), blocks=12, windows=3))
    rising, nothing = [1 + 0.03 * block for block in range(12)], key_of(plain_run)
    cells = (scaled(cell, rising if cell.key == nothing else [1.0] * 12) for cell in plain_run.cells)
    run = replace(plain_run, cells=tuple(cells))
    warned = {one.burn_us: one.warnings for one in digest_of(run).conditions}
    assert {burn_us: "Correlated blocks" in told for burn_us, told in warned.items()} == {0: True, 100: False}


def test_an_answer_names_options_that_make_virtual_threads_better_and_what_they_leave_of_the_gap() -> None:
    nothing, work = conditions_of("20261127T084435Z-carriers")
    (four,) = nothing.better
    assert four.words == (
        "throughput is 55 % higher with virtual+carriers-4 than with virtual (1.55, 95 % interval 1.49–1.61); it is "
        "0.90 (0.84–0.95) times that of the pool"
    )
    assert "virtual+carriers-4" in four.page
    assert [one.page for one in work.better] == [four.page.replace("burn-0us", "burn-100us")]


def test_of_several_options_the_best_is_told_and_the_others_by_name() -> None:
    run = reference("20261201T110125Z-carriers")
    (condition,) = digest_of(run).conditions
    numbers = [one.executor.removeprefix("virtual+carriers-") for one in condition.better]
    assert numbers == ["6", "8", "4", "3", "2"], "and not 1, which is what they are without"
    said = said_of(digest_of(run))
    assert said.count("times that of the pool") == 1
    others = ", ".join(f"virtual+carriers-{number}" for number in numbers[1:])
    assert f" 0.927 (0.914–0.940) times that of the pool. The options; smaller gains: {others}. " in said


def test_better_options_are_not_judged_beside_a_pool_that_lost_another_number_of_forks() -> None:
    def pool_loses_one(cell: CellRecord) -> CellRecord:
        if cell.key.executor != "liberty" or cell.key.burn_us:
            return cell
        lost = cell.forks[-1].model_copy(update={"status": Status.INVALID})
        return cell.model_copy(update={"forks": (*cell.forks[:-1], lost)})

    nothing, work = conditions_of("20261127T084435Z-carriers", pool_loses_one)
    (four,) = nothing.better
    told, beside = four.words.split("; ")
    assert told == "throughput is 55 % higher with virtual+carriers-4 than with virtual (1.55, 95 % interval 1.49–1.61)"
    assert beside.startswith("it is not judged against the pool: ") and "liberty" in beside and "0.90" not in beside
    assert "times that of the pool" in work.better[0].words


def test_a_server_that_leaves_its_cpus_unused_says_so_in_the_sentence() -> None:
    run = with_unused_cpus(stepped_run("temurin-21.0.8"), "virtual")
    (found,) = digest_of(run).conditions
    assert found.advice[0].sentence.endswith(
        "With virtual threads the server was saturated with 5 % of its CPUs in use: probably pinned carriers (before "
        "JDK 24, waiting inside synchronized pins them)."
    )
    assert found.cause is None, "what bounds it is no number of switches"
    servlet = conditions_of("20261128T113605Z-infoq-cpu.small")[0]
    assert servlet.advice[0].sentence == (
        "Keep the pool for tasks of 100 µs that wait 2 ms for a remote system: with virtual threads throughput is 16 % "
        "lower (95 % interval 15 to 18 %), and CPU per request 21 % higher."
    )
    assert servlet.cause == "context switches per request: 12.7 with virtual threads, 2.40 with the pool"
    (rest,) = conditions_of("20261128T125116Z-quick")
    assert rest.advice[0].sentence.endswith(
        " With virtual threads the server was held up with 17 to 19 % of its CPUs in use: probably pinned carriers "
        "(before JDK 24, waiting inside synchronized pins them)."
    ), "far behind in a closed loop"


def test_a_wide_interval_is_told_as_what_is_possible() -> None:
    servers = conditions_of("20261129T140359Z-servers")
    p99 = [one for condition in servers for one in condition.advice if one.figure == P99.id and one.tone == "blind"]
    assert {one.side for one in p99} == {Side.OPEN}
    assert {
        "Cannot tell: with virtual threads p99 latency is anywhere between 39 % lower and 3.0 times as high as with "
        "the pool (95 % interval)."
    } < {one.sentence for one in p99}


def test_every_host_keeps_its_own_answer_and_an_older_one_gives_way() -> None:
    loaded = made_up(FIVE)
    runs = [later(loaded, "old", "2024-01-01"), later(loaded, "new", "2025-01-01")]
    runs.append(later(loaded, "elsewhere", "2023-01-01", host="another"))
    page = front(*runs)
    rows = page.split('id="answers-table"')[1].split("</table>")[0]
    assert rows.count(" data-host=") == 2 * len(FIVE.jdks)
    assert "runs/new/cells/" in rows and "runs/elsewhere/cells/" in rows and "runs/old/" not in rows
    assert 'href="runs/old/index.html"' in page, "an older run stays in the table of runs"
    assert f'<option value="{runs[2].run.latest_session.host.id}"' in page


def test_what_decides_nothing_hides_no_answer_of_its_host_and_is_hidden_by_none_of_another() -> None:
    decided = later(made_up(FIVE), "decided", "2024-01-01")
    hint = later(made_up(replace(QUICK, burn_us=(100,), blocks=1)), "hint", "2025-01-01")

    said = opening(decided, hint)
    for words in ("Keep the pool for such requests: with virtual threads throughput is", "5 blocks", "2024-01-01"):
        assert words in said
    elsewhere = later(hint, "hint", "2025-01-01", host="another")
    assert "Only a hint, from one block" in opening(decided, elsewhere)


def test_the_site_opens_on_what_was_measured_last_whichever_run_knows_it_best() -> None:
    last = saying(digest_of(made_up(FIVE)), "last", 0.56, 0.63, 0.72)
    known = saying(last, "known", 0.620, 0.637, 0.655)
    (other,) = digest_of(made_up(replace(FIVE, jdks=("temurin-25",), burn_us=(500,)))).conditions
    between = replace(last, run_id="between", conditions=(other,))
    said = said_of(last, between, known)
    assert "2 runs, newest first: throughput 0.630, 0.637; together " in said
    assert "tasks of 500 µs" in said_of(between, last, known)


def test_an_answer_of_several_runs_is_warned_of_what_befell_any_of_them() -> None:
    run = digest_of(made_up(FIVE))

    def warned(name: str, low: float, high: float, *titles: str) -> RunDigest:
        (one,) = saying(run, name, low, 0.63, high).conditions
        return replace(run, run_id=name, conditions=(replace(one, warnings=titles),))

    failed, best = warned("b", 0.56, 0.72, "Not steady", "A/A check failed"), warned("a", 0.62, 0.64, "Not steady")
    assert first_of(failed, best).others_warnings == ("A/A check failed",)
    assert "Read with care: not steady; in other runs: A/A check failed." in said_of(failed, best)
    assert "Read with care: not steady." in said_of(best)
    clean = warned("c", 0.625, 0.635)
    assert "Read with care: in other runs: not steady, A/A check failed." in said_of(failed, best, clean)


def test_forks_that_fell_short_in_one_run_hide_no_other_and_are_told() -> None:
    run = digest_of(made_up(FIVE))

    def short(name: str, side: Side = Side.OPEN) -> RunDigest:
        of = saying(run, name, 0.56, 0.63, 0.72)
        (condition, *_) = of.conditions
        counted = replace(condition.advice[0], figure=OUTCOME, title="Answered", side=side, value="4 of 5 / 5 of 5")
        outcome = replace(counted, ratio=None, low=None, high=None)
        return replace(of, conditions=(replace(condition, advice=(outcome, *condition.advice)),))

    best = saying(run, "best", 0.620, 0.637, 0.655)
    for runs in ((short("new"), best), (best, short("old"))):
        told = first_of(*runs)
        assert told.run.run_id == "best" and told.together is not None
        assert told.others_warnings == ("Answered: 4 of 5 / 5 of 5 forks",)
        assert "in other runs: answered: 4 of 5 / 5 of 5 forks." in said_of(*runs)
    hung = first_of(best, short("old", Side.POOL))
    assert (hung.together, hung.others_warnings) == (None, ("Answered: 4 of 5 / 5 of 5 forks",))
    newest = first_of(short("new", Side.POOL), best)
    assert (newest.run.run_id, newest.others_warnings) == ("new", ())


def test_a_published_experiment_opens_the_site_only_where_nothing_else_decides() -> None:
    own = later(made_up(FIVE), "own", "2024-01-01")
    elsewhere = made_up(replace(FIVE, burn_us=(500,)))
    repeated = with_scenario(later(elsewhere, "repeated", "2025-01-01"))

    assert "runs/own/" in opening(own, repeated)
    assert "runs/repeated/" in opening(repeated)


def test_a_run_without_virtual_threads_has_pages_and_no_answer() -> None:
    loaded = made_up(replace(QUICK, executors=("liberty", "platform")))
    page = front(loaded)
    assert "No run here has a figure by which virtual threads and " in page and 'id="picker"' not in page
    assert "0 conditions" not in page, "it has measured some"
    assert f"runs/{loaded.run.run_id}/index.html" in page


def said_of(*runs: RunDigest) -> str:
    return " ".join(plain(one.text) for one in found(home_page(runs, (), (), offered(MATRIX)).blocks, Prose))


def test_conditions_are_counted_with_the_runs_that_measured_them() -> None:
    run = digest_of(made_up(FIVE))
    without = replace(run, run_id="without", host_id="elsewhere", conditions=())
    assert "2 conditions measured, in 1 run on 1 host." in said_of(run, without)


def test_no_work_and_no_delay_have_one_name() -> None:
    loaded = made_up(FIVE)
    (picker,) = found(home_page((digest_of(loaded),), (), (), offered(MATRIX)).blocks, Picker)
    named = {pick.axis: dict((*pick.measured, *pick.others)) for pick in picker.picks}
    assert (named["burn_us"]["0"], named["wait_us"]["0"]) == ("no added work", "no remote delay")
    assert facts_of(cell_page_of(loaded, loaded.run.cells[0]).blocks)["Task duration"] == "no added work"


@pytest.mark.parametrize(("table", "name"), [("{}", "share-50: 1,234 requests/s"), ('{"of": {}}', "share-50")])
def test_what_a_share_came_to_under_one_condition_is_not_its_name(table: str, name: str) -> None:
    run = digest_of(made_up(FIVE))
    share = replace(run.conditions[0], load="share-50", load_words="1,234 requests/s", load_table=table)
    page = home_page((replace(run, conditions=(share,)),), (), (), offered(MATRIX))
    (picker,) = found(page.blocks, Picker)
    assert next(dict(pick.measured) for pick in picker.picks if pick.axis == "load") == {"share-50": name}


def test_a_database_is_picked_in_words_where_some_workload_has_one() -> None:
    tens, fifties = "PostgreSQL, 10 connections by HikariCP", "PostgreSQL, 50 connections by HikariCP"
    bank, quick = (digest_of(reference(run)) for run in ("20261127T130539Z-bank-sql", "20261124T182303Z-quick"))
    assert {(one.workload, one.database) for one in (*bank.conditions, *quick.conditions)} == {
        ("bank-sql-10", tens), ("bank-sql-50", fifties), ("mp-ping", "none")
    }  # fmt: skip
    every = offered(MATRIX)
    pinged = replace(every, served=tuple(one for one in every.served if one["workload"] == "mp-ping"))

    def picks(run: RunDigest, can_be: Offered) -> list[tuple[set[str], set[str]]]:
        (picker,) = found(home_page((run,), (), (), can_be).blocks, Picker)
        told = [one for one in picker.picks if one.axis == "database"]
        return [({words for _, words in one.measured}, {words for _, words in one.others}) for one in told]

    ((measured, others),) = picks(quick, every)
    assert measured == {"none"} and {tens, fifties} <= others
    assert picks(bank, pinged) == [({tens, fifties}, {"none"})]
    assert picks(quick, pinged) == []


def test_a_command_of_the_user_is_named_by_what_it_serves() -> None:
    plain_run = made_up(FIVE)
    servers = (ServerFacts(name="own command", version="", sha256="", id="command"),)
    run = digest_of(replace(plain_run, run=plain_run.run.model_copy(update={"servers": servers})))
    assert run.servers == (("command", "own command"),)
    conditions = tuple(replace(one, workload="shop-1a2b3c4d", server="command") for one in run.conditions)
    said = said_of(replace(run, conditions=conditions))
    assert "1 CPU, no added work: shop-1a2b3c4d, saturate-50." in said and "5 blocks; " in said
    assert "1 CPU, no added work: mp-ping on Open Liberty, saturate-50." in said_of(digest_of(plain_run))
    assert "command" not in said


def test_what_is_offered_can_be_asked_for() -> None:
    """Every pair is checked against the planner; what is not offered cannot be asked for."""
    found = offered(MATRIX)
    served = {(one["workload"], one["server"]): one["waits"] for one in found.served}
    for workload, server, wait_us in product(MATRIX.workloads, MATRIX.servers, (0, 2000)):
        one = key(workload=workload, server=server, wait_us=wait_us)
        cells = [one.model_copy(update={"executor": executor}) for executor in (own_pool(server), virtual_of(server))]
        can_be = (workload, server) in served and (not wait_us or served[workload, server])
        assert all(map(MATRIX.has_cell, cells)) == can_be, cells
    assert {("mp-ping", "jetty"), ("banking", "open-liberty")} <= served.keys()
    assert "jetty" in found.values["server"]
    assert "helidon" not in found.values["server"], "it has no pool to compare with"
    assert {"saturate-50", "share-50", "flood"} <= set(found.values["load"])
    assert not [load for load in found.values["load"] if isinstance(MATRIX.loads[str(load)], TaskLoad)]


def test_answers_sort_by_their_ratios_and_runs_by_the_forks_that_can_be_used(tmp_path: Path) -> None:
    """Ratios have two or three decimals, so that their texts sort in another order."""
    loaded = made_up(replace(FIVE, burn_us=(0, 100)))
    (run,) = built([loaded], tmp_path / "site").runs
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    answers = page.split('<table id="answers-table" class="data sortable wrap">')[1].split("</table>")[0]
    told = {str(one.ratio) for condition in run.conditions for one in condition.advice if one.ratio is not None}
    keys = set(re.findall(r'data-sort="([^"]*)"', answers))
    assert told < keys and len(told) > 4 and all(re.fullmatch(r"[0-9.]+", key) for key in keys)
    runs = page.split('id="runs"')[1].split("</table>")[0]
    assert f'<td class="ends" data-sort="{count_forks(loaded).usable}">' in runs


def test_the_page_of_a_run_with_several_conditions_opens_on_a_map_of_them() -> None:
    """Each entry says what is found, in words and in colour, and leads to its answer without a script."""
    shape = replace(FIVE, jdks=("temurin-25",), burn_us=(0, 500), loads=("saturate-50", "rate-2000"))
    page = front(later(made_up(shape), "new", "2025-01-01"))
    opens, rest = page.split('id="conditions"')[1].split('id="picker"')
    assert "Over all 4 conditions" in page.split('id="conditions"')[0], "in one line first"
    assert re.findall(r"<h3>(.*?)</h3>", opens) == [
        f"Virtual threads / pool on Open Liberty, temurin-25, 1 CPU, under {load}, by loadgen" for load in shape.loads
    ]
    links = re.findall(r'<a href="#(answer-[0-9]+)"', opens)
    assert len(links) == len(set(links)) == 4 and all(f'id="{link}"' in rest for link in links)
    assert opens.count('aria-current="true"') == 1
    assert "<small>Throughput: the pool better</small>" in opens
    assert "<small>CPU per request: " in opens
    assert re.findall(r'<th scope="col">(.*?)</th>', opens) == ["no added work", "tasks of 500 µs"] * 2
    assert 'class="js-only"' not in opens and " style=" not in opens


def test_a_single_condition_and_a_published_experiment_open_no_map() -> None:
    one = later(made_up(replace(FIVE, jdks=("temurin-25",))), "one", "2024-01-01")
    many = made_up(replace(FIVE, burn_us=(0, 500)))
    repeated = with_scenario(later(many, "many", "2025-01-01"))
    assert 'id="conditions"' not in front(one, repeated)


def test_conditions_are_counted_alike_everywhere_on_the_page() -> None:
    """A condition that two hosts measured counts as two, as in the table of answers."""
    one = later(made_up(replace(FIVE, jdks=("temurin-25",))), "one", "2024-01-01")
    page = front(one, later(one, "two", "2025-01-01", host="another"))
    assert "Over all 2 conditions" in page and "2 conditions measured, in 2 runs on 2 hosts" in page


def test_a_project_whose_profiles_serve_nothing_offers_nothing() -> None:
    none = offered(MATRIX.model_copy(update={"profiles": {}}))
    assert none.served == () and none.values["load"] == ()


@pytest.mark.parametrize(
    ("value", "key"), [("12.3 / 4.1", "3.0"), ("1,200 / 400", "3.0"), ("2 of 3 / 3 of 3", "2"), ("≥ 9", "9"), ("–", "")]
)
def test_what_has_no_ratio_sorts_by_what_stands_for_it(value: str, key: str) -> None:
    assert _first_number(value)[:3] == key


def test_two_machines_of_one_name_are_two_hosts() -> None:
    """A virtual machine before and after it was given more CPUs is two hosts."""
    small = later(made_up(replace(FIVE, jdks=("temurin-25",))), "small", "2024-01-01")
    host = small.run.latest_session.host
    cpu = host.cpu.model_copy(update={"online": (*host.cpu.online, 98, 99)})
    changes = {"run_id": "large", "host": host.model_copy(update={"cpu": cpu})}
    large = replace(small, run=altered_run(small.run, changes))
    assert len({one.run.latest_session.host.id for one in (small, large)}) == 2
    page = front(small, large)
    rows = page.split('id="answers-table"')[1].split("</table>")[0]
    for run, cpus in (("small", 8), ("large", 10)):
        assert f"runs/{run}/cells/" in rows and f"{host.cpu.model}, {cpus} CPUs" in page
        assert f"{host.cpu.model}, {cpus} CPUs" in rows, "without a script, a row’s host is told by its own column"
    alone = front(small).split('id="answers-table"')[1].split("</table>")[0]
    assert f"{host.cpu.model}" not in alone


def test_the_picker_names_the_host_of_the_opening_sentence_where_another_was_measured_later() -> None:
    alone = made_up(replace(FIVE, jdks=("temurin-25",)))
    undecided = made_up(replace(QUICK, jdks=("temurin-25",), burn_us=(100,), blocks=1))
    here, elsewhere = later(alone, "here", "2024-01-01"), later(alone, "elsewhere", "2025-01-01", host="another")
    last = later(undecided, "last", "2026-01-01")

    def chosen(*runs: LoadedRun) -> str:
        (picker,) = found(home_page([digest_of(one) for one in runs], (), (), offered(MATRIX)).blocks, Picker)
        return next(one.chosen for one in picker.picks if one.axis == "host")

    assert chosen(last, elsewhere, here) == here.run.latest_session.host.id
    assert chosen(last, here) == "" and chosen(elsewhere, here) == ""
