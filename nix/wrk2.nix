# The driver for constant rates, or null on a system that it was never built on: nixpkgs calls it broken there, which
# `availableOn` does not look at.
{
  lib,
  stdenv,
  wrk2,
}:
let
  broken = wrk2.meta.broken or false;
in
if lib.meta.availableOn stdenv.hostPlatform wrk2 && !broken then wrk2 else null
