"""Applications of the user on the pages: what they were, how they were proven, and what nobody can know."""

from __future__ import annotations

from jdkmatrix.records.outside import OutsideProof, ThreadGroup
from jdkmatrix.records.provenance import PartOrigin, Provenance
from jdkmatrix.report.cell_page.under_load import outside_words, under_load_words
from jdkmatrix.report.run_page.facts import own_applications, own_facts
from jdkmatrix.report.run_page.notices import own_notices
from tests.support.builders import fork_with, key, sut_usage, window
from tests.support.records import run_record

PROOF = OutsideProof(
    path="/items",
    dumps=4,
    virtual_threads=13,
    virtual_names=("tomcat-handler-#", ""),
    carriers=("ForkJoinPool-1-worker-1",),
    carriers_cpu_share=0.893,
    answers=1892,
    busiest=(ThreadGroup(name="ForkJoinPool-#-worker-#", threads=2, cpu_share=0.893),),
)


def test_the_proof_says_what_was_seen() -> None:
    assert outside_words(PROOF) == (
        "from outside, under a closed loop of GET /items: 4 thread dumps showed 13 virtual threads "
        "(“tomcat-handler-#”, without a name); 1 carrier of virtual threads had 89 % of the CPU time of 1,892 "
        "answers; by threads: “ForkJoinPool-#-worker-#” (2) 89 %"
    )
    pool = PROOF.model_copy(update={"virtual_threads": 0, "carriers": (), "carriers_cpu_share": 0.0})
    assert "showed no virtual thread; their carriers had 0.0 %" in outside_words(pool)


def test_windows_say_what_carriers_took_and_that_nothing_was_counted() -> None:
    windows = [window(n, sut=sut_usage(carriers_cpu_share=share)) for n, share in enumerate((0.88, 0.91), start=1)]
    assert under_load_words(fork_with(*windows)) == (
        "not counted, since nothing of ours is in it; carriers of virtual threads had 88 % to 91 % of the CPU time in "
        "2 windows"
    )


def test_a_run_says_what_it_was_made_of_and_what_is_missing() -> None:
    own = {"command": "java -jar my.jar {port}", "arms": {"pool": "", "virtual": "-Dx=y"}, "path": "/items"}
    part = PartOrigin(part="mine", origin="host", detail="an application of the user: my.jar (sha256 0123456789ab…)")
    cells = tuple(key(executor, workload="mine", server="command") for executor in ("pool", "virtual"))
    run = run_record(
        "own",
        matrix={"workloads": {"mine": {"own": own}, "mp-ping": {"own": None}, "other": {"own": own}}},
        cells=(*cells, key()),
        order=(),
        provenance=Provenance(inputs=(), parts=(part,)),
    )
    (application,) = own_applications(run)
    assert application.how == "started by java -jar my.jar {port} (pool: as it is; virtual: -Dx=y)"
    (fact,), (notice,) = own_facts(run), own_notices(run)
    assert "mine, GET /items; an application of the user: my.jar (sha256 0123456789ab…)" in str(fact)
    for said in ("my.jar", "at least 10 %", "less than 50 %", "time in collections", "could not judge"):
        assert said in str(notice)
    assert not [*own_applications(run_record("ours", cells=(key(),), order=()))]
