"""The machine: its CPUs, which of them a cell gets, and the facts that a result is recorded with."""
