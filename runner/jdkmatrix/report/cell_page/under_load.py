"""The threads that ran a fork's requests, by what these said, in words. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import per_cent, plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.records.served import Place
from jdkmatrix.records.windows import Window

_PLACES: tuple[tuple[Place, str], ...] = (
    ("servers", "threads of the server’s own pool"),
    ("plugged_virtual", "virtual threads"),
    ("plugged_platform", "platform threads of the plugged executor"),
    ("elsewhere", "threads of unknown origin"),
)


def under_load_words(fork: Fork) -> str:
    """The windows and those of a search are told together."""
    windows = fork.every_window
    told = [(window, window.served) for window in windows if window.served]
    if shares := [share for window in windows if (share := window.sut.carriers_cpu_share) is not None]:
        return (
            f"not counted, since nothing of ours is in it; carriers of virtual threads had {share_words(shares)} of "
            f"the CPU time in {plural(len(shares), 'window')}"
        )
    if not told:
        return "not counted" if windows else "not counted: no window was measured"
    begun = sum(served.begun for _, served in told)
    parts = [
        f"{count:,} of {begun:,} requests in {plural(len(told), 'window')} ran on {words}"
        for place, words in _PLACES
        if (count := sum(served.on(place) for _, served in told))
    ]
    if all((served.threads_started or 0) >= served.begun for _, served in told):
        parts[-1] += ", each on a new one"
    parts.append(_of_driver([window for window, _ in told]))
    if len(told) < len(windows):
        parts.append(f"in {len(windows) - len(told)} more the server could not be asked")
    return "; ".join(parts)


def _of_driver(windows: list[Window]) -> str:
    sent = [window.load.sent for window in windows]
    if None in sent:
        return f"the driver had {sum(window.load.completed for window in windows):,} answers"
    return f"the driver sent {sum(filter(None, sent)):,}"


def outside_words(proof: OutsideProof) -> str:
    """How the executor was proven without a word of the application."""
    busiest = ", ".join(f"“{one.name}” ({one.threads}) {per_cent(one.cpu_share)}" for one in proof.busiest)
    names = ", ".join(f"“{name}”" if name else "without a name" for name in proof.virtual_names)
    seen = (
        f"{plural(proof.virtual_threads, 'virtual thread')} ({names})" if proof.virtual_threads else "no virtual thread"
    )
    carriers = f"{plural(len(proof.carriers), 'carrier')} of virtual threads" if proof.carriers else "their carriers"
    return (
        f"from outside, under a closed loop of GET {proof.path}: {plural(proof.dumps, 'thread dump')} showed {seen}; "
        f"{carriers} had {per_cent(proof.carriers_cpu_share)} of the CPU time of {plural(proof.answers, 'answer')}; by "
        f"threads: {busiest}"
    )


def share_words(shares: list[float]) -> str:
    low, high = per_cent(min(shares)), per_cent(max(shares))
    return low if low == high else f"{low} to {high}"
