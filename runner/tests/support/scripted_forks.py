"""Forks that end as a script says."""

from __future__ import annotations

from jdkmatrix.fork.fork_record import ForkDraft, Listener
from jdkmatrix.records.forks import Fork
from tests.support.outcome_runs import Change
from tests.support.served_campaign import made_up


def ok(made: Fork) -> Fork:
    return made


class Script:
    """How the attempts at some forks end, by cell and block; all others end well. `labels`: what was measured."""

    def __init__(self) -> None:
        self.endings: dict[str, list[Change]] = {}
        self.labels: list[str] = []
        self.positions: list[int] = []
        self.cut_after: int | None = None

    def __call__(self, setup: ForkDraft, listener: Listener) -> Fork:
        if len(self.labels) == self.cut_after:
            raise KeyboardInterrupt
        planned = setup.planned
        self.labels.append(planned.label)
        self.positions.append(planned.position)
        (setup.log_dir / "messages.log").write_text(planned.label)
        made = made_up(planned.key, planned.fork).model_copy(
            update={
                "sequence": planned.sequence,
                "position": planned.position,
                "logs": {"messages.log": f"{setup.log_prefix}/messages.log"},
            }
        )
        endings = self.endings.get(f"{planned.key.cell_id}#{planned.fork}", [])
        return (endings.pop(0) if endings else ok)(made)
