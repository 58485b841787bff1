# The same source, whose servers warm up for seconds and are measured once, whatever spoils it: for what asks whether
# everything starts, not how fast it is.
{ lib, runCommand }:
runCommand "jdk-matrix-short-warm-up" { } ''
  cp -R ${import ./source.nix { inherit lib; }} $out
  chmod -R u+w $out
  printf '%s\n' '[warmup]' 'window_s = 0.25' 'moderate_s = 0.5' 'tail_windows = 4' 'tail_s_min = 0.5' 'tail_s_max = 1' \
    'max_s = 4' 'settle_s = 0.25' '[measure]' 'repeats_max = 0' >> $out/matrix.toml
''
