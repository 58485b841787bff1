"""A program that answers as wrk2 does, for tests that need wrk2 where there is none.

It takes and refuses what wrk2 of commit 44a94c17d8e6a0bac8559b53da76848e430cb7a7 (giltene/wrk2) takes and refuses, with
the same exit status and message on the same stream: `parse_args` and `main` in its `src/wrk.c`, `scan_units` in
`src/units.c`, glibc's getopt_long, and errors of its script, which the same Lua finds (LuaJIT). It is tested on what
the real one said (samples/wrk2/refusals.json). What it then does stands in the file `behaviour` beside it: replay a
recorded output, print a made-up run of the load that it was asked for, or misbehave; "late 2" opens nothing the first
two times. It has sockets and connects none of them, so it cannot show that wrk2 measures well.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.support.project import RECORDED
from tests.support.wrk2_printer import Run

SAMPLES = RECORDED / "wrk2"

_SHORT = "t:c:d:s:H:T:R:LUBrv?"
_LONG = {
    "connections": "c:", "duration": "d:", "threads": "t:", "script": "s:", "header": "H:", "latency": "L",
    "u_latency": "U", "batch_latency": "B", "timeout": "T:", "help": "h", "version": "v", "rate": "R:",
}  # fmt: skip
_METRIC, _TIME = ("", ("k", "m", "g", "t", "p"), 1000), ("s", ("m", "h"), 60)
_NUMBERS = {
    "t": ("threads", _METRIC), "c": ("connections", _METRIC), "d": ("duration", _TIME), "T": ("timeout", _TIME),
    "R": ("rate", _METRIC),
}  # fmt: skip
_URL = re.compile(r"[A-Za-z]+://[^\s/?#:@]+(?::(\d+))?(?:[/?#][^\s]*)?", re.ASCII)


@dataclass
class Asked:
    threads: int = 2
    connections: int = 10
    duration: int = 10
    timeout: int = 2
    rate: int = 0
    latency: bool = False
    u_latency: bool = False
    script: str | None = None
    url: str = ""


class EndError(Exception):
    """The end before a run, with what was printed until then."""

    def __init__(self, stdout: str = "", stderr: str = "") -> None:
        self.stdout, self.stderr = stdout, stderr


def parse_arguments(program: str, arguments: Sequence[str]) -> tuple[Asked, str]:
    """What is asked for, and what "-v" prints before it.

    Raises:
        EndError: wrk2 would print its usage.
    """
    asked, rest, said = Asked(), list[str](), ""

    def refuse(complaint: str = "") -> NoReturn:
        raise EndError(said + sample("usage"), f"{complaint}\n" if complaint else "")

    for option, value in _options(arguments, rest):
        if option in ("", "h", "r", "?"):
            refuse(f"{program}: {value}" if option == "" else "")
        if option == "v":
            said += sample("version").removesuffix(sample("usage"))
        if option in _NUMBERS:
            name, units = _NUMBERS[option]
            number = _scanned(value, units)
            if number is None:
                refuse()
            setattr(asked, name, number)
        asked.script = value if option == "s" else asked.script
        asked.latency |= option in ("L", "U")
        asked.u_latency |= option == "U"
    if not rest or not asked.threads or not asked.duration:
        refuse()
    asked.url = rest[0]
    match = _URL.fullmatch(asked.url)
    if match is None or int(match[1] or 0) > 0xFFFF:
        refuse(f"invalid URL: {asked.url}")
    if asked.connections < max(asked.threads, 1):
        refuse("number of connections must be >= threads")
    if asked.rate == 0:
        refuse("Throughput MUST be specified with the --rate or -R option")
    return asked, said


def check_script(path: str, threads: int) -> str:
    """What wrk2 prints about a script with which it goes on, without it.

    Raises:
        EndError: it does not go on.
    """
    from lupa import luajit21  # noqa: PLC0415 - not for runs without a script

    complaints = ""

    def loaded() -> Any:
        nonlocal complaints
        state = luajit21.LuaRuntime(encoding=None)
        call = state.eval(
            "function(f, ...) local ok, e = pcall(f, ...) return ok, type(e) == 'string' and e or '?' end"
        )
        ok, cause = call(state.globals().dofile, path.encode())
        if not ok:
            complaints += f"{path}: {cause.decode()}\n"
        return state, call

    def called(call: Any, function: Any, *arguments: Any) -> bytes:
        if function is None:
            return b""
        ok, value = call(function, *arguments)
        if not ok:
            raise EndError(stderr=f"{complaints}PANIC: unprotected error in call to Lua API ({value.decode()})\n")
        return bytes(value)

    main, call_main = loaded()
    for index in range(threads):
        thread, call = loaded()
        setter = main.eval("function(set) return {set = function(_, name, value) set(name, value) end} end")
        called(call_main, main.globals().setup, setter(thread.globals().__setitem__))
        called(call, thread.globals().init, thread.table())
        if index == 0 and thread.globals().request is not None:
            request = called(call, thread.globals().request).removesuffix(b"?")
            if b"\r\n\r\n" not in request:
                lines = request.split(b"\n")
                raise EndError(stderr=f"{complaints}incomplete request at {len(lines)}:{len(lines[-1]) + 1}\n")
    return complaints


def made_up_run(asked: Asked) -> Run:
    """A server that answers everything in a millisecond, as wrk2's schedule asks for it."""
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
        asked_s=asked.duration,
        url=asked.url,
        threads=asked.threads,
        connections=asked.connections,
        calibration_means_us=(1000,) * asked.threads if calibrated else (),
        values_us=values if asked.latency else None,
        raw_values_us=values if asked.u_latency else None,
        requests=requests,
        runtime_us=asked.duration * 1_000_000,
        bytes_read=requests * 78,
        socket_errors=(0, 0, 0, 0),
        non_2xx=0,
    )


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def main(argv: Sequence[str]) -> int:
    try:
        asked, said = parse_arguments(argv[0], argv[1:])
        print(said, end="")
        if asked.script is not None:
            print(check_script(asked.script, asked.threads), end="", file=sys.stderr)
    except EndError as end:
        print(end.stderr, end="", file=sys.stderr, flush=True)
        print(end.stdout, end="")
        return 1
    return _behave((Path(argv[0]).parent / "behaviour").read_text(), asked, Path(argv[0]).parent)


def _behave(behaviour: str, asked: Asked, folder: Path) -> int:
    sys.stderr.flush()
    if behaviour.startswith("late ") and _starts(folder) <= int(behaviour.partition(" ")[2]):
        time.sleep(600)
    opened = [socket.socket() for _ in range(min(asked.connections, 20))]
    match "run" if behaviour.startswith("late ") else behaviour:
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
            print(sample("minutes"), end="")
        case _:
            raise ValueError(behaviour)
    for one in opened:
        one.close()
    return 0


def _starts(folder: Path) -> int:
    """How often it was started, this time included."""
    count = folder / "starts"
    count.write_text(count.read_text() + "." if count.exists() else ".")
    return len(count.read_text())


def _options(arguments: Sequence[str], rest: list[str]) -> Iterator[tuple[str, str]]:
    """Letter and value, in the order of the command line; "" and a complaint for what getopt_long does not know. What
    is no option goes to `rest`."""
    left = list(arguments)
    while left:
        argument = left.pop(0)
        if argument == "--":
            rest += left
            return
        if argument.startswith("--"):
            yield _long(argument, left)
        elif argument.startswith("-") and len(argument) > 1:
            yield from _cluster(argument[1:], left)
        else:
            rest.append(argument)


def _long(argument: str, left: list[str]) -> tuple[str, str]:
    name, equals, value = argument[2:].partition("=")
    found = [name] if name in _LONG else [long for long in _LONG if long.startswith(name)]
    if not found:
        return "", f"unrecognized option '{argument}'"
    if len(found) > 1:
        possible = " ".join(f"'--{long}'" for long in _LONG if long in found)
        return "", f"option '{argument}' is ambiguous; possibilities: {possible}"
    letter, takes_value = _LONG[found[0]][0], _LONG[found[0]].endswith(":")
    if equals and not takes_value:
        return "", f"option '--{found[0]}' doesn't allow an argument"
    if takes_value and not equals:
        if not left:
            return "", f"option '--{found[0]}' requires an argument"
        value = left.pop(0)
    return letter, value


def _cluster(letters: str, left: list[str]) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(letters):
        if letter == ":" or letter not in _SHORT:
            yield "", f"invalid option -- '{letter}'"
        elif f"{letter}:" not in _SHORT:
            yield letter, ""
        else:
            value = letters[at + 1 :]
            if not value and not left:
                yield "", f"option requires an argument -- '{letter}'"
            else:
                yield letter, value or left.pop(0)
            return


def _scanned(text: str, units: tuple[str, tuple[str, ...], int]) -> int | None:
    """As sscanf reads "%lu%2s": a number, then at most two characters of a unit; what follows is not looked at."""
    base, larger, scale = units
    match = re.match(r"\s*([+-]?\d+)\s*(\S{0,2})", text, re.ASCII)
    if match is None:
        return None
    number, unit = int(match[1]) % 2**64, match[2].lower()
    if unit in ("", base):
        return number
    return number * scale ** (larger.index(unit) + 1) % 2**64 if unit in larger else None


if __name__ == "__main__":
    sys.exit(main(sys.argv))
