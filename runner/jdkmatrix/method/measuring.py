"""Rules for how a fork is measured, how often, and in which turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.tables import Seconds, Table
from jdkmatrix.method.gate import Positive


class MeasureRules(Table):
    """Rules for proving, sampling and repeating a fork, and for calibrating work: "100 µs" of it is the same number of
    rounds for every JDK of a run, counted once, on a CPU of the server, over four seconds in twenty repeats. If these
    differ by more than the share wanted, it is tried again; then the best try counts, and the page says so. Beyond
    `calibration_spread_max`, by which a fork's work may be off, too (`burn_off_max`), calibration fails."""

    proof_requests: Annotated[int, Field(ge=1, le=100_000)] = 200  # GET /whoami over one connection, before the warm-up
    sample_s: Seconds = 1.0
    # How often a fork that a fault of the host or of the measurement has spoilt is measured again, at the end of its
    # block; never for what the server itself did. The count starts anew in every session.
    repeats_max: Annotated[int, Field(ge=0, le=10)] = 2
    calibration_spread_wanted: Positive = 0.01
    calibration_spread_max: Positive = 0.05
    calibration_tries: Annotated[int, Field(ge=1, le=100)] = 3


class Turns(Table):
    """Rules for measuring the forks of a block in turns: round after round, each has a window of `round_s`, after
    `lead_s` of the same load that counts nowhere. Before the first round, when all servers are up, each is loaded for
    `rewarm_s`."""

    round_s: Seconds = 1.0
    lead_s: Seconds = 0.25
    rewarm_s: Seconds = 3.0
