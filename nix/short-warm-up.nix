# The same source, whose servers warm up for seconds: for what asks whether everything starts, not how fast it is.
{ lib, runCommand }:
runCommand "jdk-matrix-short-warm-up" { } ''
  cp -R ${import ./source.nix { inherit lib; }} $out
  chmod -R u+w $out
  printf '%s\n' '[warmup]' 'tail_s_min = 1' 'tail_s_max = 2' 'max_s = 9' >> $out/matrix.toml
''
