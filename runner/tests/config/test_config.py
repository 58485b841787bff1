"""matrix.toml and what published sources add to it: every mistake gets one message with its file and key."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.scenarios import as_profile
from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import load_matrix, parse_files, read_files
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.config.schema import file_schema
from jdkmatrix.config.sizes import why_no_size
from jdkmatrix.domain.catalogue import executor_kinds
from jdkmatrix.domain.executors import base_of, check_executor, is_virtual, reference, tuning_of, unsized
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.tables import Database, RemoteAnswers
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.provision.artefacts import load_lock
from jdkmatrix.provision.nix_parts import VARIABLE, handed_over
from jdkmatrix.provision.workloads import open_workloads
from jdkmatrix.reading import ConfigError
from jdkmatrix.run.plan import select_cells
from jdkmatrix.validation import validated
from tests.support.builders import key
from tests.support.changes import change
from tests.support.project import ROOT
from tests.support.shipped import FILES, MATRIX, TOML


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        (change("axes/executor", ["virtal"]), ["axes.executor[0]", '"virtal"', 'did you mean "virtual"', "fixed-N"]),
        (change("profiles/quick/select/executor", ["fixed-0"]), ["profiles.quick.select.executor[0]", "fixed-0"]),
        (change("profiles/quick/select/executor", "al"), ["profiles.quick.select.executor", 'did you mean "all"']),
        (change("profiles/quick/select/exector", ["cached"]), ['"exector"', 'did you mean "executor"']),
        (change("profiles/quick/select/cpus", []), ["profiles.quick.select.cpus", "empty list"]),
        (change("profiles/quick/select/jdk", ["temurin-2"]), ["profiles.quick.select.jdk", "temurin-2"]),
        (change("profiles/quick/windows", 0), ["profiles.quick.windows", "found 0"]),
        (change("profiles/quick/windows", True), ["profiles.quick.windows", "found true, and a boolean means nothing"]),
        (change("axes/cpus", [True]), ["axes.cpus", "found true, and a boolean means nothing"]),
        (change("driver/overlap", "yes"), ["driver.overlap", "found 'yes'; must be true or false"]),
        (change("profiles/article/rounds", 61), ["profiles.article.max_rounds", "found 60;", "at least the 61 rounds"]),
        (change("profiles/article/max_blocks", 4), ["profiles.article.max_blocks", "blocks = 5, max_blocks = 4"]),
        (change("profiles/article/blocks", 4), ["profiles.article.max_blocks", "5 <= blocks"]),
        (change("profiles/mission/first", "quik"), ["profiles.mission.first", 'did you mean "quick"']),
        (change("profiles/quick/first", "mission"), ["profiles.quick.first", 'leads back to "quick"']),
        (change("profiles/mission/precision", 0.02),
         ["profiles.mission.first", "precision = 0.05", "this profile 0.02", "must be equal"]),
        (change("profiles/quick/include", [{"blocks": 4}]), ["quick.include[0].blocks", "found 4; at most the 3"]),
        (change("profiles/quick/precision", 0), ["profiles.quick.precision", "found 0"]),
        (change("warmup/tail_s_min", 40), ["warmup.tail_s_min", "found 40; at most tail_s_max = 30"]),
        (change("measure/calibration_spread_wanted", 0.1), ["measure.calibration_spread_wanted", "found 0.1; at most"]),
        (change("axes/executor", ["virtual+fast"]), ["tunings", '"fast" is not known', "[tunings.fast]"]),
        (change("axes/load", ["saturate-10"]), ["axes.load", "follow from the tables"]),
        (change("profiles/quick/select/server", ["jety"]), ["profiles.quick.select.server", 'did you mean "jetty"']),
        (change("workloads/forward/extends", "bank"), ["workloads.forward.extends", 'did you mean "banking"']),
        (change("workloads/mp-ping/extends", "mp-ping-mp61"),
         ["workloads.mp-ping.extends", '"mp-ping-mp61" leads back to it']),
        (change("workloads/mp-ping/application", "banking"), ["workloads.mp-ping.remote", "say how it answers"]),
        (change("workloads/mp-ping/remote", {"size_bytes": 1}), ["workloads.mp-ping.remote", "calls no remote system"]),
        (change("warmup/windw_s", 3), ["warmup.windw_s", 'did you mean "window_s"']),
        (change("warmup/max_s", 3), ["warmup.max_s", "tail_windows"]),
        (change("warmup/max_s", 32), ["warmup.max_s", "tail_s_max", "= 32.5"]),
        (change("loads/share-N/of/load", "rate-2000"), ["loads.share-50.of.load", "closed loops of a fixed size"]),
        (change("loads/share-N/of/executor", "fixed-7"), ["loads.share-50.of.executor", '"fixed-7" is not known']),
        (change("loads/flood/of/wait_us", 7), ["loads.flood.of.wait_us", '"7" is not known']),
        (change("loads/share-N/share", 0), ["loads.share-50", "share", "found 0"]),
        (change("loads/rate-N/kind", "rat"), ["loads.rate-2000", 'did you mean "rate"']),
        (change("loads/rate-N/kind", None), ["loads.rate-2000", "kind"]),
        (change("loads/rate-N/rate_rps", -1), ["loads.rate-2000.rate_rps", "-1"]),
        (change("thresholds/driver_late_share_max", math.inf), ["thresholds.driver_late_share_max", "found inf"]),
        (change("loads/capacity-N/p99_max_us", math.inf), ["loads.capacity-50", "p99_max_us", "found inf"]),
        (change("driver/timeout_s", 86_400), ["driver.timeout_s", "86400"]),
        (change("loads/rate-N", None), ["profiles.full.select.load", '"rate-2000" is not known']),
        (change("profiles/quick/select/load", ["saturate-x"]),
         ["profiles.quick.select.load", 'did you mean "saturate-N"?', "N stands for a number"]),
        (change("workloads/banking/remote/sigma", 1),
         ["matrix.toml: workloads.banking.remote.sigma: spread"]),
        (change("workloads/banking/remote/size", 1), ["workloads.banking.remote.size", "(allowed: size_bytes, spread"]),
        (change("profiles/quick/select", 3), ["profiles.quick.select", "found 3; it should be a table"]),
        (change("driver/choice", "wrk"), ["driver.choice", 'did you mean "wrk2"']),
        (change("driver/jdk", "temurin-99"), ["driver.jdk", "temurin-99"]),
        (change("driver", None), ["driver: missing"]),
        (change("warmup/tail_windows", "a"), ["warmup.tail_windows", "'a'"]),
        (change("seed", 1), ['"seed" is not known']),
        (change("workloads/mp-ping/features", "full"),
         ["workloads.mp-ping.features", "restfulWS-3.1, restfulWS-3.1-jsonb-3.0-servlet-6.0, microProfile-6.1"]),
        (change("workloads/mp-ping/application", "banking"), ["workloads.mp-ping.features", "no JSON binding"]),
        (change("workloads/mp-ping/features", None), ["workloads.mp-ping.features: missing (allowed with mp-ping: "]),
        (change("workloads/pinning-http-lock/front", "rest"),
         ["workloads.pinning-http-lock.front", "nothing but a servlet"]),
        (change("workloads/banking/mix", None), ["workloads.banking.mix", "banking needs it"]),
        (change("workloads/pinning-http-lock/accounts", 2), ["workloads.pinning-http-lock.accounts", "has none"]),
        (change("workloads/pinning-http-lock/features", "restfulWS-3.1"),
         ["workloads.pinning-http-lock.features", "no servlets, which pinning needs"]),
        (change("workloads/mp-ping/client", "socket"), ["workloads.mp-ping.client", "calls no remote system"]),
        (change("workloads/banking/client", "netty"), ["workloads.banking.client", "http-client, socket"]),
        (change("workloads/mp-ping/front", "servlet"), ["workloads.mp-ping.front", "has no servlet"]),
        (change("axes/cpus", [1, 1]), ["axes.cpus", "twice"]),
        (change("experiments/x", {"warmup_s": 1}), ["experiments.x", "has no `experiment`", "burn, fanout"]),
        (change("experiments/x", {"experiment": "bern"}),
         ["experiments.x", '"bern" is not known', 'did you mean "burn"']),
        (change("experiments/x", {"experiment": "spawn", "task": "sleep", "timeout_s": 1}),
         ["experiments.x.sleep_s", "sleep"]),
        (change("experiments/x", {"experiment": "pinning", "inside": "lok", "block_ms": 1, "warmup_s": 0}),
         ["experiments.x.inside", 'did you mean "lock"']),
        (change("experiments/x", {"experiment": "spawn", "task": "burn", "sink": "stdout", "timeout_s": 1}),
         ["experiments.x.sink", 'task = "print"']),
        (change("experiments/x", {**TOML["experiments"]["spawn-sleep"], "cold": True}),
         ["experiments.x.cold", "after a rehearsal"]),
        (change("experiments/mp-ping", TOML["experiments"]["burn"]), ["experiments.mp-ping", "[workloads]"]),
        (change("loads/x", {"count": 3}), ["loads.x", "has no `kind`", "in-flight, join"]),
        (change("loads/x", {"kind": "count", "count": 0}), ["loads.x.count", "found 0"]),
        (change("servers/none", TOML["servers"]["open-liberty"]), ["servers.none", "experiments without a server"]),
    ],
)  # fmt: skip
def test_a_mistake_is_told_once_with_its_key(mistake: Callable[[dict[str, Any]], None], expected: list[str]) -> None:
    data = copy.deepcopy(TOML)
    mistake(data)
    with pytest.raises(ConfigError) as caught:
        parse_files({"matrix.toml": data})
    message = str(caught.value)
    assert message.startswith("matrix.toml: ")
    for part in expected:
        assert part in message
    first_key = expected[0].split(":")[0]
    assert message.count(f"{first_key}: ") <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = " + "1" * 5000, r"not valid TOML: .*digits"),
        ("[a]\nb = [{c = 0x" + "f" * 5000 + "}]", r"not valid TOML: a\.b\.0\.c: an integer of more than 64 bits"),
        (f"seed = {2**63}", "not valid TOML: seed: an integer of more than 64 bits"),
        ('[jvm]\noptions = ["-Da=\\u0000"]', r"not valid TOML: jvm\.options\.0: a NUL character"),
        ("a = " + "[" * 50_000 + "]" * 50_000, "not valid TOML: nested too deeply"),
        (".".join("a" * 5000) + " = 1", "not valid TOML: a: nested more than 64 deep"),
        ("schema = 1\naxes = = 2\n", "not valid TOML.*line 2"),
        (None, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_message(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "matrix.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=rf"^{path}: {message}"):
        load_matrix(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": "\xff"}', "cannot be read: 'utf-8' codec can't decode byte 0xff in position 7"),
        (b'{"a": ' + b"1" * 5000 + b"}", "not valid JSON: .*digits"),
        (b'{"a": [' + b"1" * 400 + b"]}", r"not valid JSON: a\.0: an integer of more than 64 bits"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not valid JSON: nested too deeply"),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "not valid JSON: a: nested more than 64 deep"),
        (b"{", r"not valid JSON: .*line 1"),
        (b"[]", ""),
        (None, "cannot be read: No such file"),
    ],
)
@pytest.mark.parametrize("name", ["jdks.json", "toolchain.lock.json", "parts.json", "workloads/outputs.json"])
def test_so_it_is_of_every_file_that_comes_with_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    monkeypatch.setenv(VARIABLE, str(path))
    read: dict[str, Callable[[], object]] = {
        "jdks.json": lambda: load_catalogue(path),
        "toolchain.lock.json": lambda: load_lock(tmp_path),
        "parts.json": handed_over,
        "workloads/outputs.json": lambda: open_workloads(tmp_path, tmp_path),
    }
    with pytest.raises(ConfigError, match=rf"{path}: {message}"):
        read[name]()


@pytest.mark.parametrize(
    ("protocol", "promised"),
    [({}, 0.05), ({"precision": 0.01}, 0.01), ({"max_blocks": 9}, 0.02), ({"max_blocks": 9, "precision": 0.1}, 0.1)],
)
def test_every_protocol_promises_a_precision(protocol: dict[str, float], promised: float) -> None:
    profile = Profile.model_validate({"description": "", "blocks": 5, "select": {}, **protocol})
    assert profile.promised_precision == promised
    assert (profile.stopping is None) == ("max_blocks" not in protocol)
    assert profile.stopping is None or profile.stopping.precision == promised


def test_blocks_that_are_fixed_on_the_command_line_keep_what_the_profile_promises() -> None:
    matrix = Options("article", {}, blocks=5).apply(MATRIX)
    assert matrix.profiles["article"].stopping is None
    assert matrix.profiles["article"].promised_precision == 0.02


def test_the_schema_accepts_what_the_loader_accepts() -> None:
    schema = file_schema()
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    for tables in FILES.values():
        validator.validate(json.loads(json.dumps(tables)))


NEW = "published/new/scenarios.toml"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"loads": {"flood": {"kind": "rate"}}}, "loads.flood: is also in matrix.toml"),
        ({"driver": {"cpus": 1}}, 'driver: "driver" is not known'),
        ({"loads": {"odd": {"kind": "rate", "rate_rps": 0, "connections": 1}}}, "loads.odd.rate_rps: found 0"),
        ({"workloads": {"odd": {"extends": "mp-pong"}}}, "workloads.odd.extends: "),
    ],
)
def test_a_mistake_of_a_published_source_is_told_with_its_file(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_files({"matrix.toml": TOML, NEW: tables})
    assert str(caught.value).startswith(f"{NEW}: {message}")


def test_a_mistake_in_what_only_a_template_makes_is_told_with_the_template() -> None:
    changed = {**TOML["workloads"], "bank-sql-N": {**TOML["workloads"]["bank-sql-N"], "extends": "bankng"}}
    tables = {"workloads": {"boxed": {"extends": "bank-sql-7"}}}
    with pytest.raises(ConfigError, match=r'^matrix\.toml: workloads\.bank-sql-N\.extends: "bankng" is not known'):
        parse_files({"matrix.toml": TOML | {"workloads": changed}, NEW: tables})
    changed["bank-sql-N"]["extends"] = "bank-sql-7"
    with pytest.raises(ConfigError, match=r'^matrix\.toml: workloads\.bank-sql-N\.extends: "bank-sql-7" leads back'):
        parse_files({"matrix.toml": TOML | {"workloads": changed}, NEW: tables})


@pytest.mark.parametrize("table", ["loads", "mixes", "servers"])
def test_what_should_be_a_table_is_told_whoever_else_has_entries_of_it(table: str) -> None:
    with pytest.raises(ConfigError, match=rf"matrix\.toml: {table}: found 3; it should be a table"):
        parse_files({**FILES, str(ROOT / "matrix.toml"): {**FILES[str(ROOT / "matrix.toml")], table: 3}})


def test_what_a_published_source_needs_it_brings_along() -> None:
    """Names with a number need no table, and no profile measures more because of them."""
    select = {
        "workload": ["banking-quick"], "server": ["open-liberty"], "jdk": ["temurin-25"], "cpus": [3], "burn_us": [7],
        "wait_us": [9], "executor": ["fixed-7", "virtual+carriers-5"], "load": ["saturate-33", "share-7"],
    }  # fmt: skip
    size = {"words": "", "blocks": 1, "select": select}
    quick = TOML["profiles"]["quick"]
    banking = {axis: values for axis, values in quick["select"].items() if axis != "wait_us"} | {
        "workload": ["banking"]
    }
    tables = {
        "profiles": {"own": {**quick, "select": banking}},
        "workloads": {"banking-quick": {"extends": "banking", "remote": {"spread": "exponential"}}},
        "scenarios": {"new": {"description": "", "article": size, "small": size}},
    }
    matrix = parse_files({"matrix.toml": TOML, NEW: tables})
    cells = select_cells(*as_profile(matrix, "new", "small"))
    assert len(cells) == 4 and {cell.cpus for cell in cells} == {3}
    assert matrix.loads["saturate-33"] == SaturateLoad(connections=33)
    assert matrix.loads["share-7"].model_dump()["share"] == 0.07
    assert matrix.tunings["carriers-5"].properties == {"jdk.virtualThreadScheduler.parallelism": "5"}
    assert matrix.workloads["banking-quick"].remote == RemoteAnswers(size_bytes=1024, spread="exponential")
    assert matrix.axes.cpus == (1, 2, 3, 4, 8)
    for profile in MATRIX.profiles:
        assert select_cells(matrix, profile) == select_cells(MATRIX, profile)
    assert {cell.wait_us for cell in select_cells(matrix, "own")} == {*TOML["axes"]["wait_us"]}


def test_a_server_that_brings_its_pool_of_connections_takes_no_other() -> None:
    matrix = parse_files({"matrix.toml": TOML}, {"workload": ("bank-sql-agroal-10",)})
    cells = (key(server=server, executor=server, workload="bank-sql-agroal-10") for server in ("spring-boot", "tomcat"))
    told, none = map(matrix.why_no_cell, cells)
    assert told == "Spring Boot 4 brings its own pool of database connections, hikari, and no other"
    assert none is None


def test_the_bank_on_a_database_may_have_any_number_of_connections() -> None:
    tables = {"workloads": {"boxed": {"extends": "bank-sql-7", "limits": {"cpu_quota_cpus": 1}}}}
    matrix = parse_files({"matrix.toml": TOML, NEW: tables}, {"workload": ("bank-sql-12",)})
    assert matrix.workloads["boxed"].database == Database(connections=7)
    assert matrix.workloads["bank-sql-12"].database == Database(connections=12)
    assert not {"bank-sql-N", "bank-sql-7"} & {*matrix.axes.workload}
    with pytest.raises(ConfigError, match=r"workloads\.boxed\.database: banking has none"):
        parse_files(
            {"matrix.toml": TOML, NEW: {"workloads": {"boxed": {"extends": "banking", "database": {"connections": 7}}}}}
        )


@pytest.mark.parametrize(
    "options",
    [
        Options("full", {}),
        Options("quick", {}, blocks=5, max_blocks=9),  # another profile has this one first, and no max_blocks
        Options("mission", {"workload": ("mp-ping",)}),  # nothing is left of what it includes
        Options("mission", {"workload": ("banking",)}),
        Options("servers", {"server": ("jetty",)}),
    ],
    ids=lambda options: options.profile,
)
def test_a_run_goes_on_with_the_matrix_that_it_recorded(options: Options) -> None:
    changed = options.apply(MATRIX)
    recorded = validated(Matrix, json.loads(changed.model_dump_json(by_alias=True)), "run.json")
    assert recorded == changed


def test_executor_names() -> None:
    names = [sized for name in executor_kinds() for sized in (name.replace("-N", "-1"), name.replace("-N", "-99999"))]
    assert [check_executor(name) for name in names] == names
    assert {name for name in executor_kinds() if is_virtual(name)} >= {"liberty-virtual", "virtual", "structured"}
    assert not any(map(is_virtual, ("liberty", "platform", "cached", "fixed-8", "fjp-fifo", "unheard-of")))


@pytest.mark.parametrize("template", ["carriers-N", "carriers-max-N"])
@pytest.mark.parametrize(("number", "is_fit"), [(1, True), (32_767, True), (32_768, False), (0, False)])
def test_there_are_at_most_as_many_carriers_as_the_scheduler_takes(template: str, number: int, is_fit: bool) -> None:
    name = template.replace("N", str(number))
    refused = None if is_fit else f'"{name}": N of {template} is a whole number from 1 to 32,767'
    assert why_no_size(read_files(ROOT / "matrix.toml"), "tunings", name) == refused


@pytest.mark.parametrize(("name", "tuning"), [("virtual+carriers-1", "carriers-1"), ("fixed-8+a.b-aa", "a.b")])
def test_a_tuned_executor_is_compared_with_the_untuned_one(name: str, tuning: str) -> None:
    assert check_executor(name) == name
    assert tuning_of(name) == tuning
    assert base_of(name) == name.partition("+")[0]
    assert reference(name, "open-liberty") == (name.removesuffix("-aa") if name.endswith("-aa") else base_of(name))


@pytest.mark.parametrize("name", ["virtual+", "virtual+A", "virtual+-a", "virtual+a+b", "virtual+a-", "+a"])
def test_names_of_tunings_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        check_executor(name)


PARTS = [*executor_kinds(), "-", "+", "0", "N", "8", "aa", "carriers"]


@given(st.lists(st.sampled_from(PARTS), max_size=5).map("".join))
def test_any_other_executor_name_is_refused_with_what_is_allowed(name: str) -> None:
    try:
        assert check_executor(name) == name
    except ValueError as error:
        assert "allowed: l" in str(error)
    else:
        assert unsized(name) in executor_kinds() and not base_of(name).endswith("-N")
