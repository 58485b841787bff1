"""What a run writes to disk: the vocabulary that every other module shares.

The whole file format stands in this one package, so that it can be reviewed, versioned and migrated in one place:
`loads` (a cell, its load, what a driver says), `cells` (forks, windows, what was seen of server and host), `memory`
(where that of the server is), `limits` (of the server, and which it ran into), `remote` (the system that an application
calls), `served` (on whose threads requests ran), `experiments` (without a server), `provenance` (where the parts came
from), `claims` (what was published of the experiment), `run`.

Units are part of the names: `_s`, `_ms`, `_us`, `_bytes`, `_rps`. Latencies are microseconds.
Times of day are ISO 8601 in UTC; `t_s` is seconds since the fork's SUT process was started.
"""
