"""loadgen warms a server up and is gone when wrk2 measures; wrk2's stand-in sends nothing, so its script is read."""

from __future__ import annotations

import re
from dataclasses import replace

import psutil
import pytest

from jdkmatrix.config.request_mix import RequestMix, RequestTemplate
from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.drivers.base import Driver, DriverError, Edge
from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.drivers.loadgen import LoadgenDriver
from tests.drivers.loadgen.test_loadgen_requests import Server
from tests.support.loopback import answering
from tests.support.wrk2_bench import COUNTS_S, LOAD, Bench, bench

__all__ = ["bench"]

pytestmark = pytest.mark.real

MIX = RequestMix(seed=7, requests=(RequestTemplate(method="POST", path="/payments/{unique:9}", body="{}"),))


def test_loadgen_warms_up_and_wrk2_measures(driver: LoadgenDriver, bench: Bench) -> None:
    both: Driver = Wrk2Driver(bench.wrk2("calculate"), driver)
    assert [program.name for program in both.programs] == ["wrk2", "loadgen"]
    with answering(Server()) as server:
        target = replace(bench.target, url=server.url, requests=MIX, cpus=(bench.cpu, bench.cpu))
        with both.open(target) as session:
            session.wait_ready()
            pid = session.pid
            assert pid is not None and "loadgen.jar" in " ".join(session.command)
            warmed = session.warm(RateLoad(rate_rps=333.3, connections=7), 0.5, label="warmup-1")
            often = Edge()
            often.interval_s = 0.1
            led = session.warm(SaturateLoad(connections=3), 0.2, label="warmup-2", edge=often, lead_s=0.3)
            assert led.lead is not None and led.lead.sent > 0 and [part.t_s for part in led.intervals] == [0.1, 0.2]
            assert (warmed.driver, warmed.load) == ("loadgen", RateLoad(rate_rps=333.3, connections=7))
            measured = session.run(LOAD, COUNTS_S, label="window-1")
            assert measured.driver == "wrk2" and "-R500" in session.command
            assert session.pid is None and not psutil.pid_exists(pid)
            with pytest.raises(DriverError, match="settling: wrk2 is already measuring, and loadgen has ended"):
                session.warm(LOAD, 1.0, label="settling")
    taken = [int(path.rpartition("/")[2]) for _, path, *_ in server.seen]
    first = re.search(r"next_unique = (\d+) \+", (bench.logs / "window-1.lua").read_text())
    assert len(taken) > 100 and first is not None
    assert max(taken) < int(first[1]), "no payment is made twice"
