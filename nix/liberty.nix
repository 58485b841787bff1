# Open Liberty with the features of `featureSets` and no others; $out is its wlp folder.
{
  lib,
  stdenv,
  callPackage,
  temurin-bin-25,
  unzip,
  artefact,
  featureSets,
}:
let
  archive = callPackage ./artefact.nix { inherit artefact; };
  includes = lib.concatMapStrings (name: "<include location=\"features/${name}.xml\"/>") featureSets;
in
stdenv.mkDerivation {
  pname = "open-liberty-minified";
  inherit (archive) version;
  src = archive;
  features = builtins.path {
    path = ../workloads/liberty/features;
    name = "features";
  };
  nativeBuildInputs = [ unzip ];

  dontUnpack = true;
  dontConfigure = true;
  dontFixup = true;
  buildPhase = ''
    runHook preBuild
    unzip -qq $src
    export WLP_USER_DIR=$PWD/usr WLP_OUTPUT_DIR=$PWD/out JAVA_HOME=${temurin-bin-25} HOME=$PWD
    mkdir -p usr/servers/minify
    cp -R --no-preserve=mode $features usr/servers/minify/features
    echo '<server>${includes}</server>' > usr/servers/minify/server.xml
    sh wlp/bin/server package minify --include=minify --archive=$PWD/minified.zip
    runHook postBuild
  '';
  installPhase = ''
    runHook preInstall
    mkdir minified
    unzip -qq minified.zip -d minified
    rm minified/wlp/lib/versions/package_*.txt # the time of day
    mv minified/wlp $out
    runHook postInstall
  '';

  passthru = { inherit (artefact) sha256; };
  meta = {
    description = "Open Liberty, as released, with the features that the workloads use";
    license = lib.licenses.epl20;
  };
}
