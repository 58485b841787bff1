"""How a fork is measured, how often, and in which turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.tables import Seconds, Table
from jdkmatrix.method.gate import Positive


class MeasureRules(Table):
    """How a fork is proved, sampled and repeated, and how work is calibrated: "100 µs" of it are so many rounds for
    every JDK of a run, counted once, on a CPU of the server, over four seconds in twenty repeats. Where these differ by
    more than the share wanted, one tries again, and then takes the try in which they differed least, as the page says.
    Beyond `calibration_spread_max`, by which the work of a fork may be off, too (`burn_off_max`), one gives up."""

    proof_requests: Annotated[int, Field(ge=1, le=100_000)] = 200  # GET /whoami over one connection, before the warm-up
    sample_s: Seconds = 1.0
    # How often a fork is measured again, at the end of its block, when a fault of the host or of the measurement has
    # spoilt it, and never for what the server itself did; in every session anew.
    repeats_max: Annotated[int, Field(ge=0, le=10)] = 2
    calibration_spread_wanted: Positive = 0.01
    calibration_spread_max: Positive = 0.05
    calibration_tries: Annotated[int, Field(ge=1, le=100)] = 3


class Turns(Table):
    """How the forks of a block are measured in turns: a window of `round_s` of each, behind `lead_s` of the same load
    that counts nowhere, round after round. Before the first round, when all servers are up, each gets load for
    `rewarm_s`."""

    round_s: Seconds = 1.0
    lead_s: Seconds = 0.25
    rewarm_s: Seconds = 3.0
