# One JDK of the catalogue, from its vendor's archive; $out is its Java home.
{
  lib,
  stdenv,
  fetchurl,
  runCommand,
  autoPatchelfHook,
  freetype,
  zlib,
  entry,
}:
let
  archive = entry.archives.${stdenv.hostPlatform.system};

  jdk = stdenv.mkDerivation {
    pname = "jdk-${entry.id}";
    # Without a plus, as folders of the cache are named. Open Liberty 26.0.0.3 takes one; older releases were not tried.
    version = lib.replaceStrings [ "+" ] [ "_" ] entry.version;
    src = fetchurl { inherit (archive) url sha256; };

    nativeBuildInputs = [ autoPatchelfHook ];
    buildInputs = [
      (lib.getLib stdenv.cc.cc)
      freetype
      zlib
    ];
    # Windows and sound: no server needs them.
    autoPatchelfIgnoreMissingDeps = [
      "libX11.so.6"
      "libXext.so.6"
      "libXi.so.6"
      "libXrender.so.1"
      "libXtst.so.6"
      "libasound.so.2"
    ];

    dontConfigure = true;
    dontBuild = true;
    dontStrip = true;
    installPhase = ''
      runHook preInstall
      mkdir -p $out
      cp -R . $out/
      runHook postInstall
    '';

    passthru = {
      # Versions are written as in 28-ea+17.
      earlyAccess = lib.hasInfix "-ea" entry.version;
      # From where its vendor has nothing but the newest builds of what is to come.
      fleeting = lib.hasInfix "/early_access/" archive.url;
      tests.version = runCommand "jdk-${entry.id}-version" { } ''
        ${jdk}/bin/java -version 2>&1 | tee $out
        grep -q '"${toString entry.feature_version}' $out
      '';
    };
    meta = {
      description = "${entry.vendor} ${entry.version}, as its vendor built it";
      license = with lib.licenses; [
        gpl2Only
        classpathException20
      ];
      platforms = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
      mainProgram = "java";
    };
  };
in
jdk
