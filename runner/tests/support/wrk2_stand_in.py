"""A program that answers as wrk2 does, for tests that need wrk2 where there is none.

Of the command lines that wrk2 of commit 44a94c17d8e6a0bac8559b53da76848e430cb7a7 (giltene/wrk2) takes, it takes those
that the driver writes; it refuses those of them that wrk2 refuses, and prints its usage for all others. It is tested
against what the real one said (samples/wrk2/refusals.json). The file `behaviour` beside it says what it then does:
replay a recorded output, print a made-up run of the load that was asked for, or misbehave; "late" waits until it is
woken. It has threads that do nothing, and connects to nothing, so it cannot show that wrk2 measures well. It runs no
script; tests/config/test_request_mix.py does, in wrk2's Lua.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.wrk2_printer import Run

SAMPLES = Path(__file__).parents[1] / "samples" / "wrk2"  # imports nothing of ours, which takes longer than all it does
_TAKEN = re.compile(
    r"-t(?P<threads>\d+) -c(?P<connections>\d+) -d(?P<duration>\d+)s -R(?P<rate>\d+)(?P<latency> -L)?"
    r"(?P<u_latency> -U)?( --timeout \d+s)?( -s (?P<script>\S+))? (?P<url>.+)",
    re.ASCII,
)
_URL = re.compile(r"[A-Za-z]+://[^\s/?#:@]+(?::(\d+))?(?:[/?#][^\s]*)?", re.ASCII)


@dataclass
class Asked:
    threads: int
    connections: int
    duration: int
    rate: int
    url: str
    latency: bool = True
    u_latency: bool = False
    script: str | None = None


def complaint(asked: Asked) -> str | None:
    """Return what wrk2 says, if anything, before its usage; None if it would run."""
    match = _URL.fullmatch(asked.url)
    for wrong, said in (
        (not asked.threads or not asked.duration, ""),
        (match is None or int(match[1] or 0) > 0xFFFF, f"invalid URL: {asked.url}\n"),
        (asked.connections < asked.threads, "number of connections must be >= threads\n"),
        (asked.rate == 0, "Throughput MUST be specified with the --rate or -R option\n"),
    ):
        if wrong:
            return said
    return None


def made_up_run(asked: Asked) -> Run:
    """Make up the run of a server that answers everything in a millisecond, on wrk2's schedule."""
    per_thread = asked.connections // asked.threads
    calibrated_us = 10_000_000 + 5000 * per_thread

    def sent(until_us: int) -> int:
        opened_for_us = (until_us - 5000 * index for index in range(per_thread) if 5000 * index < until_us)
        return asked.threads * sum(-(-us * asked.rate // (asked.connections * 1_000_000)) for us in opened_for_us)

    requests = sent(asked.duration * 1_000_000)
    calibrated = asked.duration * 1_000_000 > calibrated_us
    recorded = requests - sent(calibrated_us) if calibrated else requests
    values = tuple(sorted((950, 1000, 1100)[i % 3] for i in range(recorded)))
    return Run(
        asked_s=asked.duration, url=asked.url, threads=asked.threads, connections=asked.connections,
        calibration_means_us=(1000,) * asked.threads if calibrated else (),
        values_us=values if asked.latency else None, raw_values_us=values if asked.u_latency else None,
        requests=requests, runtime_us=asked.duration * 1_000_000, bytes_read=requests * 78,
        socket_errors=(0, 0, 0, 0), non_2xx=0,
    )  # fmt: skip


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def main(argv: Sequence[str]) -> int:
    found = _TAKEN.fullmatch(" ".join(argv[1:]))
    if found is None:
        print(sample("version" if argv[1:] == ["-v"] else "usage"), end="")
        return 1
    numbers = {name: int(found[name]) for name in ("threads", "connections", "duration", "rate")}
    asked = Asked(
        **numbers, latency=found["latency"] is not None, u_latency=found["u_latency"] is not None,
        script=found["script"], url=found["url"],
    )  # fmt: skip
    if (said := complaint(asked)) is not None:
        print(said, end="", file=sys.stderr, flush=True)
        print(sample("usage"), end="")
        return 1
    if asked.script is not None and not Path(asked.script).exists():  # it goes on without
        missing = f"{asked.script}: cannot open {asked.script}: No such file or directory\n"
        print(missing * (1 + asked.threads), end="", file=sys.stderr)
    return _behave((Path(argv[0]).parent / "behaviour").read_text(), asked, Path(argv[0]).parent)


def _wait_for(woken: Sequence[int]) -> None:
    while not woken:
        time.sleep(0.01)


def _behave(behaviour: str, asked: Asked, folder: Path) -> int:
    sys.stderr.flush()
    woken: list[int] = []
    signal.signal(signal.SIGCONT, lambda number, _: woken.append(number))
    for _ in range(asked.threads):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    match behaviour:
        case "late":
            _wait_for(woken)
            print(made_up_run(asked).text, end="")
        case "run":
            print(made_up_run(asked).text, end="")
        case "hang":
            time.sleep(600)
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "refuse":
            sys.stderr.write(sample("refused"))
            return 1
        case "cut":
            print(sample("stall")[:2000])
        case "short":
            print(sample("stall"), end="")
        case "no-latencies":
            head, _, tail = sample("stall").partition("  Latency Distribution")
            print(head + "  9902 requests" + tail.partition("  9902 requests")[2], end="")
        case "calculate":
            end = time.process_time() + 0.4
            while time.process_time() < end:
                pass
            (folder / "cpus").write_text(repr(sorted(os.sched_getaffinity(0))))
            (folder / "cpu_s").write_text(repr(time.process_time()))
            print(sample("minutes"), end="")
        case _:
            raise ValueError(behaviour)
    return 0
