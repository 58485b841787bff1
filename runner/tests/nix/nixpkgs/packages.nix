# The packages of nixpkgs that the flake uses, for one system.
{
  host,
  lib,
  system,
}:
let
  inherit (builtins)
    all
    concatStringsSep
    functionArgs
    head
    intersectAttrs
    isAttrs
    isFunction
    isList
    map
    removeAttrs
    substring
    toJSON
    ;

  # The programs of stdenv and nothing else of the host: read-only, and not below /usr.
  stdenv = builtins.path {
    path = ./stdenv;
    name = "stdenv";
  };
  shell = "${stdenv}/bin/bash";

  build =
    name: script: attributes:
    derivation (
      {
        inherit name system;
        builder = shell;
        args = [
          "-euc"
          # With `:` last, bash does not turn into the script's last program: that one may close its output before it
          # ends, and Nix kills at once a builder that has closed its output.
          "${script}\n:"
        ];
        PATH = "${stdenv}/bin";
      }
      // attributes
    );
  # Like check-meta.nix of nixpkgs, which looks at whatever is evaluated; the meta of what is refused can still be read.
  isFree =
    licenses: all (license: license.free or false) (if isList licenses then licenses else [ licenses ]);
  withMeta =
    meta: passthru: package:
    let
      refuse = why: throw "${package.name} ${why}, refusing to evaluate";
      checked =
        path:
        if !isFree (meta.license or [ ]) then
          refuse "has an unfree license"
        else if meta.broken or false then
          refuse "is marked as broken"
        else
          path;
    in
    package
    // passthru
    // {
      inherit meta;
      drvPath = checked package.drvPath;
      outPath = checked package.outPath;
    };
  programs =
    packages: concatStringsSep ":" (map (package: "${package}/bin") packages ++ [ "${stdenv}/bin" ]);

  # For where a JDK of the flake compiles: those that a registry has cannot.
  compiling =
    attributes:
    if attributes ? JAVA_HOME && !host.everything then
      attributes // { JAVA_HOME = jdkOfHost; }
    else
      attributes;
  jdkOfHost =
    build "jdk-of-the-host"
      ''
        mkdir $out
        tar -xf $src -C $out --strip-components=1
      ''
      {
        src = fetchurl {
          url = "mirror://host/jdk.tar.gz";
          sha256 = host.jdk;
        };
      };

  # The phases of stdenv that the flake uses, in their order.
  mkDerivation =
    arguments:
    let
      attributes = removeAttrs arguments [
        "meta"
        "passthru"
        "pname"
        "nativeBuildInputs"
        "buildInputs"
        "autoPatchelfIgnoreMissingDeps"
      ];
      when = wanted: text: if wanted then text else "";
    in
    withMeta (arguments.meta or { })
      (
        {
          inherit (arguments) version;
        }
        // {
          tests = arguments.passthru.tests or { };
        }
        // (arguments.passthru or { })
      )
      (
        build "${arguments.pname}-${arguments.version}" (
          ''
            runHook() { :; }
            mkdir work
            cd work
          ''
          + when (!(arguments.dontUnpack or false)) (
            ''
              curSrc=$src
              if [ -d "$src" ]; then
                cp -R "$src" source
                chmod -R u+w source
            ''
            + ''
              else
                tar -xf $src
              fi
              cd */
            ''
          )
          + (arguments.buildPhase or "")
          + (arguments.installPhase or "")
        ) (compiling attributes // { PATH = programs (arguments.nativeBuildInputs or [ ]); })
      );

  # A fixed-output derivation like that of nixpkgs, whose server is a folder with files named by their sha256.
  fetchurl =
    {
      url,
      sha256,
      passthru ? { },
    }:
    build (baseNameOf url)
      ''
        if ! [ -f "$seeds/$outputHash" ]; then echo "there is no seed of $url" >&2; exit 1; fi
        cp "$seeds/$outputHash" $out
      ''
      {
        inherit url;
        inherit (host) seeds;
        # Like the real one, it runs outside the sandbox; the hash is checked anyway.
        __noChroot = true;
        outputHashMode = "flat";
        outputHashAlgo = "sha256";
        outputHash = sha256;
      }
    // passthru;

  # Something of the host, under the name that nixpkgs gives it.
  ofHost =
    name: programs:
    withMeta { mainProgram = head programs; } { } (
      build name ''
        mkdir -p $out/bin
        ${concatStringsSep "\n" (
          map (program: "ln -s ${host.programs.${program}} $out/bin/${program}") programs
        )}
      '' { }
    );
  librariesOfHost =
    name: files:
    build name ''
      mkdir -p $out/lib
      ${concatStringsSep "\n" (map (file: "ln -s ${host.libraries.${file}} $out/lib/${file}") files)}
    '' { };
  onlyNamed = name: withMeta { } { } (build name "mkdir $out" { });

  # The host's interpreter with the named distributions and what they require: in the versions of nixpkgs.
  pythonWith =
    name: distributions:
    build name "PYTHONPATH=${host.packages} ${host.python} ${./python/environment.py} $out ${
      toString (map (one: one.pname) distributions)
    }" { built = map toString distributions; };
  python = {
    withPackages = choose: pythonWith "python-with-packages" (choose packages.python3Packages);
  };
  pythonPackage =
    pname:
    withMeta { } {
      inherit pname;
      version = versions.${pname} or null;
    } (build pname "mkdir $out" { });
  versions = builtins.fromJSON (builtins.readFile ./versions.json);
  required =
    arguments:
    "${host.python} ${./python/requirements.py} ${arguments.src} '${
      toJSON {
        relax = arguments.pythonRelaxDeps or false;
        remove = arguments.pythonRemoveDeps or false;
        offered = builtins.listToAttrs (
          map (one: {
            name = one.pname;
            value = one.version;
          }) (arguments.build-system ++ arguments.dependencies)
        );
      }
    }'";

  # Only the program itself finds its packages; what it starts with the same interpreter does not.
  buildPythonApplication =
    arguments:
    withMeta arguments.meta { } (
      build "${arguments.pname}-${arguments.version}" ''
        ${required arguments}
        mkdir -p $out/bin $out/lib
        cp -R ${arguments.src}/jdkmatrix $out/lib/
        cat > $out/bin/${arguments.meta.mainProgram} <<END
        #!${pythonWith "python" [ ]}/bin/python3
        import sys
        from pathlib import Path

        packages = Path("${pythonWith "${arguments.pname}-packages" arguments.dependencies}")
        sys.path += ["$out/lib", *map(str, packages.glob("lib/python*/site-packages"))]
        from jdkmatrix.cli.main import main

        if __name__ == "__main__":
            sys.exit(main())
        END
        chmod +x $out/bin/${arguments.meta.mainProgram}
      '' { }
    );
  buildPythonPackage =
    arguments:
    withMeta arguments.meta { inherit (arguments) pname version; } (
      build "${arguments.pname}-${arguments.version}" ''
        ${required arguments}
        mkdir $out
      '' { }
    );

  callPackage =
    file: given:
    let
      f = if isFunction file then file else import file;
      result = f (intersectAttrs (functionArgs f) packages // given);
    in
    # Like makeOverridable, for sets of packages too.
    if isAttrs result then result // { override = throw "not in the stand-in"; } else result;

  packages = {
    inherit callPackage fetchurl lib;
    stdenv = {
      inherit mkDerivation;
      hostPlatform = { inherit system; };
      cc.cc = librariesOfHost "gcc" [
        "libgcc_s.so.1"
        "libstdc++.so.6"
      ];
    };
    fetchPypi =
      {
        pname,
        version,
        sha256,
      }:
      fetchurl {
        url = "mirror://pypi/${substring 0 1 pname}/${pname}/${pname}-${version}.tar.gz";
        inherit sha256;
      };
    runCommand =
      name: attributes: script:
      withMeta (attributes.meta or { }) { } (
        build name script (
          removeAttrs attributes [
            "meta"
            "nativeBuildInputs"
          ]
          // {
            PATH = programs (attributes.nativeBuildInputs or [ ]);
          }
        )
      );
    linkFarm =
      name: entries:
      build name
        ''
          mkdir $out
          cd $out
          while read -r path target; do
            folder=./$path
            folder=''${folder%/*}
            [ -d "$folder" ] || mkdir -p "$folder"
            ln -s "$target" "$path"
          done < "$entriesPath"
        ''
        {
          entries = concatStringsSep "" (map (entry: "${entry.name} ${entry.path}\n") entries);
          passAsFile = [ "entries" ];
        };
    writeText =
      name: text:
      build name "cp $textPath $out" {
        inherit text;
        passAsFile = [ "text" ];
      };
    writeShellApplication =
      {
        name,
        text,
        meta ? { },
      }:
      withMeta ({ mainProgram = name; } // meta) { } (
        build name
          ''
            mkdir -p $out/bin
            { printf '#!${shell}\nset -euo pipefail\n\n'; cat "$textPath"; } > $out/bin/${name}
            chmod +x $out/bin/${name}
            ${host.programs.shellcheck} $out/bin/${name}
          ''
          {
            inherit text;
            passAsFile = [ "text" ];
          }
      );
    # The build's output tells the environment that `nix develop` makes of the rest.
    mkShell =
      attributes:
      build "shell" "export -p > $out" (
        removeAttrs (compiling attributes) [ "packages" ] // { PATH = programs attributes.packages; }
      );

    nixfmt-tree = ofHost "nixfmt-tree" [ "nixfmt" ];
    unzip = ofHost "unzip" [ "unzip" ];
    cargo = ofHost "cargo" [ "cargo" ];
    chromium = ofHost "chromium" [ "chromium" ];
    git = ofHost "git" [ "git" ];
    maven = ofHost "maven" [ "mvn" ];
    autoPatchelfHook = onlyNamed "auto-patchelf-hook";
    freetype = onlyNamed "freetype";
    postgresql = onlyNamed "postgresql";
    zlib = librariesOfHost "zlib" [ "libz.so.1" ];
    wrk2 = withMeta {
      mainProgram = "wrk2";
      platforms = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      broken = system == "aarch64-linux";
    } { } (onlyNamed "wrk2");

    python3Packages = {
      inherit buildPythonApplication buildPythonPackage python;
    }
    // lib.genAttrs [
      "altair"
      "hypothesis"
      "jinja2"
      "lupa"
      "numpy"
      "pbr"
      "playwright"
      "psutil"
      "pydantic"
      "pytest"
      "pytest-timeout"
      "pytest-xdist"
      "pyyaml"
      "questionary"
      "rich"
      "scipy"
      "setuptools"
      "typer"
    ] pythonPackage;
  };
in
packages
