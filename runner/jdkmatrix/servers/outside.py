"""Judge what was observed from outside of an application that reports nothing about itself. Pure.

An executor's name promises a kind of thread: `virtual` that requests run on virtual threads, any other that they do
not. But a server has other work, too, such as accepting connections, and a handler may start threads of another kind;
so virtual threads must use at least a tenth of the CPU time where they are promised, and less than half elsewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.quantities import per_cent
from jdkmatrix.probes.process import JIT_THREADS, Reading, cpu_ns_without_jit, thread_cpu_ns
from jdkmatrix.records.outside import ThreadGroup
from jdkmatrix.servers.proof import ProofError

VIRTUAL_AT_LEAST = 0.1
PLATFORM_BELOW = 0.5
_SHOWN_GROUPS = 4


def is_as_promised(share: float, executor: str) -> bool:
    """Return whether the executor's name fits `share`, that of the CPU time used by carriers of virtual threads."""
    return share >= VIRTUAL_AT_LEAST if is_virtual(executor) else share < PLATFORM_BELOW


def check_carriers(share: float, executor: str, seen: str) -> None:
    """Check `share`, that of the CPU time used by carriers of virtual threads; `seen`: where requests ran, in words.

    Raises:
        ProofError: the executor's name promises something else.
    """
    if is_as_promised(share, executor):
        return
    figures = {"carriers_cpu_share": share}
    if is_virtual(executor):
        raise ProofError(
            f'"{executor}" promises virtual threads, but they used {per_cent(share)} of the CPU time under load: its '
            f"switch has no effect on this application; {seen}",
            figures,
        )
    raise ProofError(
        f'"{executor}" promises platform threads, but virtual threads used {per_cent(share)} of the CPU time under '
        f"load: {seen}",
        figures,
    )


def busiest_groups(before: Reading, after: Reading, names: Mapping[int, str]) -> tuple[ThreadGroup, ...]:
    """Group threads by name, those with the most CPU time between two readings first; threads that have ended are in
    none. `names`: those that the JVM gives them, which the kernel truncates."""
    spent: defaultdict[str, list[int]] = defaultdict(list)
    for tid, now in after.threads.items():
        if not now.name.startswith(JIT_THREADS):
            spent[unnumbered(names.get(tid, now.name))].append(thread_cpu_ns(tid, before, after))
    total = max(cpu_ns_without_jit(before, after), sum(map(sum, spent.values())), 1)
    order = sorted(spent.items(), key=lambda group: -sum(group[1]))[:_SHOWN_GROUPS]
    return tuple(ThreadGroup(name=name, threads=len(each), cpu_share=sum(each) / total) for name, each in order)


def unnumbered(name: str) -> str:
    return re.sub(r"[0-9]+", "#", name)


def groups_words(groups: tuple[ThreadGroup, ...]) -> str:
    """Describe the groups: “http-nio-#-exec-#” (10) 81 %, …"""
    return ", ".join(f"“{one.name or 'no name'}” ({one.threads}) {per_cent(one.cpu_share)}" for one in groups)
