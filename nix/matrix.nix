# The command line with everything handed over by absolute path.
{
  lib,
  writeShellApplication,
  parts,
  runner,
}:
writeShellApplication {
  name = "matrix";
  text = ''
    export MATRIX_PARTS=${parts}
    exec ${lib.getExe runner} "$@"
  '';
}
