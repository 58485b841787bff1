"""The file format of a run.

Cells and their loads are named in `domain`; everything else that files hold is here, so that it can be reviewed and
versioned in one place.

Units are part of the names: `_s`, `_ms`, `_us`, `_bytes`, `_rps`. Latencies are microseconds.
Times of day are ISO 8601 in UTC; `t_s` is seconds since the fork's SUT process was started.
"""
