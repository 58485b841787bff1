"""Two runs, or two JDKs or executors of one: what became better or worse, and what else changed. Pure.

Within a run figures are paired in blocks. Those of two runs are not: there every figure is compared by itself on one
host, and on any two hosts how far virtual threads and the server's pool are apart, since that is paired inside each
run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.figures.metrics import Metric, metrics_of
from jdkmatrix.records.run import HostFacts, RunRecord
from jdkmatrix.report.cellstats import Cells, block_logs
from jdkmatrix.report.numbers import apart
from jdkmatrix.report.wording import condition
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.unpaired import difference_of_logs, unpaired_ratio
from jdkmatrix.stats.verdicts import Judged, Verdict, judge
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.executors import reference


@dataclass(frozen=True)
class Side:
    """Cells of one run, those with `value` on `axis` where one is compared."""

    run: RunRecord
    cells: Cells
    axis: str | None = None
    value: str | None = None

    @property
    def name(self) -> str:
        return self.value if self.value is not None else self.run.run_id

    def compared(self) -> tuple[CellKey, ...]:
        if self.axis is None:
            return self.cells.keys
        return tuple(key for key in self.cells.keys if getattr(key, self.axis) == self.value)

    def in_place_of(self, other: CellKey) -> CellKey:
        """The cell of this side that stands beside one of the other."""
        return other if self.axis is None else other.model_copy(update={self.axis: self.value})


@dataclass(frozen=True)
class Change:
    """What `after` is in units of `before`. `relative`: of the ratio to the server's own pool, paired inside each run.
    `worse`: a verdict says so; `beyond`: and it is more than the share that was allowed."""

    key: CellKey
    metric: Metric
    relative: bool
    judged: Judged
    worse: bool
    better: bool
    beyond: bool

    @property
    def what(self) -> str:
        over = f", over {reference(self.key.executor, self.key.server)}" if self.relative else ""
        return f"{self.metric.title}{over}"

    @property
    def where(self) -> str:
        key = self.key
        return f"{key.served}, {key.jdk}, {key.executor}, {condition(key.cpus, key.task)}, {key.load}"

    @property
    def word(self) -> str:
        if self.worse or self.better:
            much = apart(self.judged.ratio.value)
            more = "more" if self.judged.ratio.value > 1 else "less"
            return f"{'worse' if self.worse else 'better'}: {much} {more}"
        return self.judged.verdict.value


@dataclass(frozen=True)
class Compared:
    """`else_changed`: what besides is not the same on both sides; `why_not`: why figures themselves are not
    compared."""

    before: str
    after: str
    threshold: float
    else_changed: tuple[str, ...]
    why_not: str | None
    changes: tuple[Change, ...]

    @property
    def regressions(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.beyond)


def compare_sides(before: Side, after: Side, *, threshold: float) -> Compared:
    """Every figure by which executors are compared, where both sides have it; one family of p-values (Holm).
    `threshold`: a share, beyond which a change for the worse is a regression."""
    same_run = before.run.run_id == after.run.run_id
    hosts = _host_differences(before.run.latest_session.host, after.run.latest_session.host)
    other_host = before.run.latest_session.host.hostname_hash != after.run.latest_session.host.hostname_hash
    found: dict[tuple[CellKey, str, bool], tuple[Metric, Ratio]] = {}
    for key in after.compared():
        beside = before.in_place_of(key)
        for metric, relative, ratio in _ratios(key, beside, before, after, same_run=same_run, absolute=not other_host):
            found[key, metric.id, relative] = metric, ratio
    judged = judge({name: ratio for name, (_, ratio) in found.items()})
    changes = (_change(name, found[name][0], one, threshold) for name, one in judged.items())
    return Compared(
        before=before.name,
        after=after.name,
        threshold=threshold,
        else_changed=(*hosts, *(() if same_run else _run_differences(before.run, after.run))),
        why_not="they were measured on two hosts" if other_host else None,
        changes=tuple(changes),
    )


def _ratios(
    key: CellKey, beside: CellKey, before: Side, after: Side, *, same_run: bool, absolute: bool
) -> Iterator[tuple[Metric, bool, Ratio]]:
    cell, base = after.cells.get(key), before.cells.get(beside)
    if cell is None or base is None:
        return
    sequential = before.run.stopping is not None or after.run.stopping is not None
    for metric in metrics_of(cell.load):
        if same_run:
            compared = after.cells.over(metric, key, beside)
            if compared is not None and compared.ratio is not None:
                yield metric, False, compared.ratio
            continue
        if absolute:
            ratio = unpaired_ratio(
                tuple(cell.by_block(metric).values()), tuple(base.by_block(metric).values()), sequential=sequential
            )
            if ratio is not None:
                yield metric, False, ratio
        above = after.cells.compare(metric, key, reference(key.executor, key.server))
        below = before.cells.compare(metric, beside, reference(beside.executor, beside.server))
        if above is None or below is None or above.cell is above.base:
            continue
        ratio = difference_of_logs(block_logs(above), block_logs(below), sequential=sequential)
        if ratio is not None:
            yield metric, True, ratio


def _change(name: tuple[CellKey, str, bool], metric: Metric, judged: Judged, threshold: float) -> Change:
    key, _, relative = name
    decided = judged.verdict is Verdict.DIFFERENT
    favour = judged.ratio.value if metric.more_is_better else 1 / judged.ratio.value
    return Change(
        key=key,
        metric=metric,
        relative=relative,
        judged=judged,
        worse=decided and favour < 1,
        better=decided and favour > 1,
        beyond=decided and favour < 1 - threshold,
    )


def _host_differences(before: HostFacts, after: HostFacts) -> Iterator[str]:
    facts = (
        ("host", before.hostname_hash[:8], after.hostname_hash[:8]),
        ("CPU", before.cpu.model, after.cpu.model),
        ("CPUs online", len(before.cpu.online), len(after.cpu.online)),
        ("kernel", before.kernel, after.kernel),
        ("governor", before.cpu.governor, after.cpu.governor),
        ("boost", before.cpu.boost, after.cpu.boost),
        ("microcode", before.cpu.microcode, after.cpu.microcode),
        ("scheduler", before.scheduler, after.scheduler),
        ("mitigations", before.cpu.mitigations, after.cpu.mitigations),
    )
    return (f"{name}: {one}, then {other}" for name, one, other in facts if one != other)


def _run_differences(before: RunRecord, after: RunRecord) -> Iterator[str]:
    jdks = {jdk.id: jdk.version for jdk in before.jdks if jdk.available}
    for jdk in after.jdks:
        if jdk.available and jdk.id in jdks and jdks[jdk.id] != jdk.version:
            yield f"{jdk.id}: {jdks[jdk.id]}, then {jdk.version}"
    yield from _named("server", [(s.id, s.version) for s in before.servers], [(s.id, s.version) for s in after.servers])
    drivers = ([(d.name, d.version) for d in run.drivers] for run in (before, after))
    yield from _named("driver", *drivers)
    one, other = before.latest_session.git_commit, after.latest_session.git_commit
    if one != other:
        yield f"commit of the project: {(one or 'not known')[:12]}, then {(other or 'not known')[:12]}"


def _named(kind: str, before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> Iterator[str]:
    known = dict(before)
    for name, version in after:
        if name in known and known[name] != version:
            yield f"{kind} {name}: {known[name]}, then {version}"
