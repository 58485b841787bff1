"""An application seen from outside: real thread dumps, and what they and the CPU time of threads prove."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.probes.java_threads import carriers_among, parse_threads, parse_virtual, with_their_pools
from jdkmatrix.probes.process import Glance, Reading, ThreadCounters, cpu_share_of
from jdkmatrix.servers.outside import busiest_groups, check_carriers
from jdkmatrix.servers.proof import ProofError
from jdkmatrix.subjects.served.outside import _kind, _share_of
from tests.support.project import RECORDED

SAMPLES = RECORDED / "threads"  # their stacks are cut down
ON_21 = {861: "on-837", 862: "on-838"}
ON_25 = {tid: f"on-{tid - 28}" for tid in (1263, 1264, 1265, 1267, 1273, 1280, 1281, 1282)}


@pytest.mark.parametrize(("jdk", "virtual"), [("21", ON_21), ("25", ON_25)])
def test_dumps_show_carriers_and_virtual_threads(jdk: str, virtual: dict[int, str]) -> None:
    """JDK 21 does not mark virtual threads, and one that has not begun to run looks like any other."""
    names, carriers = parse_threads((SAMPLES / f"print-{jdk}.txt").read_text())
    assert {names[tid] for tid in carriers} == {"ForkJoinPool-1-worker-1", "ForkJoinPool-1-worker-2"}
    assert {"HTTP-Dispatcher", "C2 CompilerThread0", "DestroyJavaVM"} < set(names.values())
    assert "VM Thread" not in names.values(), "it is no thread of Java"
    assert parse_virtual((SAMPLES / f"dump-{jdk}.json").read_text()) == virtual


@given(st.dictionaries(st.integers(1, 3), st.sets(st.integers(1, 4), min_size=1), max_size=3), st.integers(1, 4))
def test_carriers_that_were_not_caught_are_those_of_one_pool(pools: dict[int, set[int]], count: int) -> None:
    names = {10 * pool + n: f"ForkJoinPool-{pool}-worker-{n}" for pool, numbers in pools.items() for n in numbers}
    found = carriers_among({**names, 99: "ForkJoinPool.commonPool-worker-1", 98: "main"}, count)
    fit = [pool for pool, numbers in pools.items() if len(pools) == 1 or len(numbers) == count]
    if len(fit) == 1:
        assert found == {tid for tid in names if tid // 10 == fit[0]}
    else:
        assert isinstance(found, str) and f"it has {count} carriers" in found


def test_who_was_caught_carrying_shows_all_carriers() -> None:
    """A JVM may number the name of each for the kernel, "ForkJoi..rker-2": the name of one is not that of all."""
    names = {1: "ForkJoinPool-1-worker-1", 2: "ForkJoinPool-1-worker-12", 3: "ForkJoinPool-11-worker-1", 4: "main"}
    names |= {5: "ForkJoinPool.commonPool-worker-1", 6: "carrier"}
    assert with_their_pools(frozenset({1}), names) == {1, 2}
    assert with_their_pools(frozenset({6}), names) == {6}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"threadDump": {"threadContainers": [{}]}}', '{"threadDump": 1}'])
def test_what_is_no_dump_shows_nothing(text: str) -> None:
    assert parse_virtual(text) is None


@given(st.floats(0, 1), st.sampled_from(["pool", "virtual", "liberty", "liberty-virtual", "fixed-8"]))
def test_an_executor_s_name_is_its_promise(share: float, executor: str) -> None:
    kept = share >= 0.1 if is_virtual(executor) else share < 0.5
    try:
        check_carriers(share, executor, "seen")
    except ProofError as error:
        assert not kept
        assert f'"{executor}" promises {"virtual" if is_virtual(executor) else "platform"} threads' in str(error)
        assert error.figures == {"carriers_cpu_share": share}
    else:
        assert kept


def thread(name: str, cpu_ms: int) -> ThreadCounters:
    return ThreadCounters(name, cpu_ms * 10**6, 0, 0, 0)


def reading(cpu_ms: int, threads: dict[int, ThreadCounters]) -> Reading:
    return Reading(Glance(0, cpu_ms * 10**6, 0, 0, len(threads)), threads)


def test_shares_are_of_what_the_jit_leaves_and_count_threads_that_have_ended() -> None:
    before = reading(500, {1: thread("ForkJoinPool-1-", 100), 2: thread("C2 CompilerThre", 100), 3: thread("x", 5)})
    after = reading(900, {1: thread("ForkJoinPool-1-", 200), 2: thread("C2 CompilerThre", 300), 4: thread("x", 50)})
    assert cpu_share_of({"ForkJoinPool-1-"}, before, after) == 0.5, "100 ms of 400, 200 of which the JIT had"
    assert cpu_share_of((), before, after) == 0.0
    groups = busiest_groups(before, after, {1: "ForkJoinPool-1-worker-1", 4: "exec-7"})
    assert [(one.name, one.threads, round(one.cpu_share, 3)) for one in groups] == [
        ("ForkJoinPool-#-worker-#", 1, 0.5),
        ("exec-#", 1, 0.25),
    ]


def test_carriers_that_took_the_place_of_others_count() -> None:
    """A pool's thread that has long been idle ends, and the next one has another number, which newer JVMs keep."""
    carriers = set(map(_kind, ("ForkJoi..rker-1", "ForkJoi..rker-2")))
    assert carriers == {"ForkJoi.."} and _kind("ForkJoinPool-1-") == "ForkJoinPool-1-"
    before, after = reading(100, {}), reading(200, {3: thread("ForkJoi..rker-3", 90), 4: thread("exec-1", 10)})
    assert cpu_share_of(carriers, before, after) == 0.9
    with pytest.raises(ProofError, match=r'for "ForkJoinPool\.commonPool-worker-9", which is not one'):
        _share_of(carriers, {3}, {3: "ForkJoinPool.commonPool-worker-9"}, before, after, executor="virtual")


def test_threads_that_the_kernel_cannot_tell_from_carriers_prove_nothing() -> None:
    """Newer JVMs shorten names in the middle."""
    names = {1: "ForkJoinPool-1-worker-1", 2: "ForkJoinPool.commonPool-worker-1"}

    def used(carrier_ms: int, other_ms: int) -> Reading:
        threads = {1: thread("ForkJoi..rker-1", carrier_ms), 2: thread("ForkJoi..rker-1", other_ms)}
        return reading(carrier_ms + other_ms, threads)

    def share(carrier_ms: int, other_ms: int, executor: str, name: str = "ForkJoi..rker-1") -> float:
        readings = used(0, 50), used(carrier_ms, 50 + other_ms)
        return _share_of({name}, {2}, names, *readings, executor=executor)

    assert share(80, 20, "virtual") == share(60, 40, "liberty") == 1.0, "which says the same without the other thread"
    assert share(5, 95, "virtual", "ForkJoinPool-1-") == 0.0
    with pytest.raises(ProofError, match=r'for "ForkJoinPool\.commonPool-worker-1", which is not one; .*100 %.*5\.0 %'):
        share(5, 95, "virtual")
    with pytest.raises(ProofError, match="which is not one"):
        share(40, 60, "liberty")
