"""A mix of requests: what is allowed, what is sent, and the script that makes it for wrk2.

wrk2 itself is not available here: its script runs in the same Lua (LuaJIT), called in the order in which wrk2's
sources call it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lupa import luajit21
from pydantic import ValidationError

from jdkmatrix.config.request_mix import Random, RequestMix, RequestTemplate, Unique
from jdkmatrix.drivers.base import DriverError
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2_script import wrk2_script
from tests.support.project import ROOT
from tests.support.wrk2_bench import COUNTS_S, LOAD, Bench, bench

__all__ = ["bench"]

CASES = json.loads(
    (ROOT / "workloads/loadgen/src/test/resources/request-mixes.json").read_text()
)  # RequestFileTest.java has the same
MIX = RequestMix(
    seed=7,
    requests=(
        RequestTemplate(method="GET", path="/plain", weight=5),
        RequestTemplate(method="GET", path="/random/{random:95:105}", headers={"X-Id": "{unique:6}"}, weight=3),
        RequestTemplate(method="POST", path="/unique/{unique:5}", body='{"id": {unique:6}, "é": "\\"\n0"}', weight=2),
    ),
)


@pytest.mark.parametrize("file", CASES["accepted"])
def test_accepted(file: dict[str, Any]) -> None:
    mix = RequestMix.model_validate(file)
    assert RequestMix.model_validate_json(mix.model_dump_json()) == mix


@pytest.mark.parametrize("case", CASES["refused"])
def test_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        RequestMix.model_validate(case["file"])
    assert case["because"] in str(refused.value)


def test_a_long_request_is_refused() -> None:
    others = sum(
        len(part) for part in RequestTemplate(method="POST", path="/", body="").parts("") if isinstance(part, bytes)
    )
    longest = "x" * (65_536 - others - 4)  # the length of the body has 5 digits
    RequestTemplate(method="POST", path="/", body=longest)
    with pytest.raises(ValidationError, match="65537 bytes; at most 65536"):
        RequestTemplate(method="POST", path="/", body=longest + "x")


def test_parts() -> None:
    request = RequestTemplate(
        method="POST", path="/o/{unique:4}?r={random:7:12}", headers={"X": "<{unique:3}> {"}, body="}é{random:1:9}"
    )
    assert request.parts("host:1") == (
        b"POST ", b"/o/", Unique(4), b"?r=", Random(7, 12), b" HTTP/1.1\r\nHost: host:1\r\n",
        b"X: ", b"<", Unique(3), b"> {", b"\r\n", b"Content-Length: 4\r\n", b"\r\n", "}é".encode(), Random(1, 9),
    )  # fmt: skip
    assert request.last_unique == 999
    assert RequestTemplate(method="GET", path="/{random:1:5}").last_unique is None


# ---------------------------------------------------------------- wrk2's script


class Wrk2Threads:
    """A script as wrk2 runs it: one environment for itself, one for each thread."""

    def __init__(self, script: str, threads: int) -> None:
        main = luajit21.LuaRuntime(encoding=None)
        main.execute(script.encode("ascii"))
        self.threads = []
        for index in range(threads):
            thread = luajit21.LuaRuntime(encoding=None)
            thread.execute(script.encode("ascii"))
            setter = main.eval(b"function(set) return {set = function(_, name, value) set(name, value) end} end")
            main.globals()[b"setup"](setter(thread.globals().__setitem__))
            thread.globals()[b"init"](thread.table())
            self.threads.append(thread.globals()[b"request"])
            if index == 0:
                self.threads[0]()

    def request(self, thread: int) -> bytes:
        return cast(bytes, self.threads[thread]())


def pattern(template: RequestTemplate, authority: str) -> re.Pattern[bytes]:
    parts = template.parts(authority)
    return re.compile(b"".join(re.escape(p) if isinstance(p, bytes) else b"([0-9]{%d})" % p.width for p in parts))


def test_the_script_keeps_the_mix_and_its_numbers_are_unique() -> None:
    count, threads = 6_000, 3
    wrk2 = Wrk2Threads(wrk2_script(MIX, "127.0.0.1:80", threads=threads, first_unique=40), threads)
    kinds: Counter[int] = Counter()
    numbers: list[int] = []
    drawn: Counter[int] = Counter()
    for i in range(count):
        sent = wrk2.request(i % threads)
        kind, match = next(
            (k, match) for k, t in enumerate(MIX.requests) if (match := pattern(t, "127.0.0.1:80").fullmatch(sent))
        )
        kinds[kind] += 1
        if kind == 1:
            drawn[int(match[1])] += 1
            numbers.append(int(match[2]))
        elif kind == 2:
            assert int(match[1]) == int(match[2])
            numbers.append(int(match[1]))
    # The seed is fixed, so nothing is left to chance.
    assert [kinds[k] / count for k in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    assert drawn.keys() == set(range(95, 106))
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) >= 40


def test_the_script_is_repeatable_and_stops_when_its_numbers_are_used_up() -> None:
    def sent(seed: int) -> list[bytes]:
        mix = MIX.model_copy(update={"seed": seed})
        wrk2 = Wrk2Threads(wrk2_script(mix, "h", threads=2, first_unique=0), 2)
        return [wrk2.request(i % 2) for i in range(50)]

    assert sent(1) == sent(1) != sent(2)
    short = RequestMix(seed=1, requests=(RequestTemplate(method="GET", path="/{unique:1}"),))
    wrk2 = Wrk2Threads(wrk2_script(short, "h", threads=1, first_unique=7), 1)
    assert [wrk2.request(0)[:7] for _ in range(2)] == [b"GET /8 ", b"GET /9 "]
    with pytest.raises(luajit21.LuaError, match="used up: the next is 10;"):
        wrk2.request(0)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), max_size=80))
def test_any_body_reaches_wrk2_as_it_is(body: str) -> None:
    mix = RequestMix(seed=0, requests=(RequestTemplate(method="POST", path="/", body=body),))
    sent = Wrk2Threads(wrk2_script(mix, "h", threads=1, first_unique=0), 1).request(0)
    head = f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body.encode())}\r\n\r\n"
    assert sent == head.encode() + body.encode()


def test_a_wrk2_session_gives_each_phase_numbers_of_its_own(bench: Bench) -> None:
    with bench.session("calculate", requests=MIX) as session:
        for label in ("one", "two"):
            session.run(LOAD, COUNTS_S, label=label)
            script = bench.logs / f"{label}.lua"
            assert session.command[-3:-1] == ("-s", str(script))
            assert 'GET " .. "/plain"' in script.read_text()
            assert "Host: 127.0.0.1:18190" in script.read_text()
        # 29,963 answers, 50 connections and the trial.
        assert "next_unique = 0 +" in (bench.logs / "one.lua").read_text()
        assert "next_unique = 30014 +" in (bench.logs / "two.lua").read_text()
    with bench.session("die", requests=MIX) as session:
        with pytest.raises(DriverError, match="signal 11"):
            session.run(LOAD, COUNTS_S, label="three")
        with pytest.raises(DriverError, match="must not be used again"):
            session.run(LOAD, COUNTS_S, label="four")


def test_loadgen_is_told_the_file(bench: Bench) -> None:
    driver = LoadgenDriver(Path("loadgen.jar"), Path("java"), "jdk")
    assert "--requests" not in driver.command_line(bench.target)
    command = driver.command_line(replace(bench.target, requests=MIX))
    assert command[command.index("--requests") + 1] == str(bench.logs / "requests.json")
