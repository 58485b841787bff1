# nixpkgs does not have it.
{
  lib,
  python3Packages,
  fetchPypi,
}:
python3Packages.buildPythonPackage rec {
  pname = "hdrhistogram";
  version = "0.10.8";
  pyproject = true;
  src = fetchPypi {
    inherit pname version;
    sha256 = "88986eea184d1330c53fca98adf58799339a23ac27f488887b0423c7ce569c34";
  };
  build-system = with python3Packages; [
    pbr
    setuptools
  ];
  dependencies = [ ];
  # The metadata names what builds it (a newer setuptools than nixpkgs has); nothing of it is imported.
  pythonRemoveDeps = [
    "pbr"
    "setuptools"
  ];
  pythonImportsCheck = [ "hdrh.histogram" ];
  meta.license = lib.licenses.asl20;
}
