# Open Liberty with the features of `featureSets`, which are in `folder`, and no others; $out is its wlp folder.
{
  lib,
  stdenv,
  unzip,
  artefact,
  featureSets,
  folder,
  jdk,
}:
let
  includes = lib.concatMapStrings (name: "<include location=\"features/${name}.xml\"/>") featureSets;
in
stdenv.mkDerivation {
  pname = "open-liberty-minified";
  inherit (artefact) version;
  src = artefact.file;
  features = builtins.path {
    path = folder + "/features";
    name = "features";
  };
  nativeBuildInputs = [ unzip ];
  JAVA_HOME = jdk;

  dontUnpack = true;
  dontConfigure = true;
  dontFixup = true;
  buildPhase = ''
    runHook preBuild
    unzip -qq $src
    export WLP_USER_DIR=$PWD/usr WLP_OUTPUT_DIR=$PWD/out HOME=$PWD
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
    description = "Open Liberty ${artefact.version}, as released, with the features that the workloads use";
    license = lib.licenses.epl20;
  };
}
