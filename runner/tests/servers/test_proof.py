"""The proof refuses every answer that is not from the cell's executor."""

from __future__ import annotations

import pytest

from jdkmatrix.servers.proof import ProofError, Whoami, judge


def answers(executor: str, *, virtual: bool, threads: int, count: int = 20) -> list[Whoami]:
    return [Whoami(executor, f"thread-{i % threads}", i % threads, virtual) for i in range(count)]


def test_right_answers_are_summed_up() -> None:
    proof = judge(answers("liberty", virtual=False, threads=4), "liberty")
    assert (proof.requests, proof.distinct_threads, proof.virtual) == (20, 4, False)
    assert proof.thread_names == ("thread-0", "thread-1", "thread-2", "thread-3")
    assert judge(answers("virtual", virtual=True, threads=20), "virtual").distinct_threads == 20
    for pooled in ("liberty-virtual", "virtual-pooled-3"):
        assert judge(answers(pooled, virtual=True, threads=3), pooled).distinct_threads == 3


@pytest.mark.parametrize(
    ("given", "executor", "message"),
    [
        (answers("liberty", virtual=False, threads=4), "virtual", '20 of 20 requests did not run on "virtual"'),
        (answers("virtual", virtual=False, threads=20), "virtual", "platform thread"),
        (answers("fixed-50", virtual=False, threads=5), "fixed-10", 'executor "fixed-50"'),
        (answers("virtual", virtual=True, threads=3), "virtual", "20 requests ran on 3"),
        (answers("platform", virtual=False, threads=3), "platform", "20 requests ran on 3"),
        (answers("virtual-bounded-8", virtual=True, threads=8), "virtual-bounded-8", "20 requests ran on 8"),
        (answers("virtual-bounded-8", virtual=False, threads=20), "virtual-bounded-8", "platform thread"),
        (answers("quarkus-virtual", virtual=True, threads=19), "quarkus-virtual", "20 requests ran on 19"),
        (answers("micronaut-virtual", virtual=True, threads=1), "micronaut-virtual", "20 requests ran on 1"),
        (answers("virtual-pooled-8", virtual=False, threads=8), "virtual-pooled-8", "platform thread"),
        ([*answers("cached", virtual=False, threads=2, count=19), Whoami("liberty", "x", 9, False)], "cached",
         "1 of 20 requests"),
    ],
)  # fmt: skip
def test_wrong_answers_fail(given: list[Whoami], executor: str, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        judge(given, executor)
