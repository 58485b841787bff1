# The functions of nixpkgs' lib that the flake uses.
{ host }:
let
  inherit (builtins)
    attrNames
    concatStringsSep
    elem
    elemAt
    filter
    fromJSON
    fromTOML
    isString
    length
    listToAttrs
    readFile
    replaceStrings
    split
    stringLength
    substring
    ;
  nameValuePair = name: value: { inherit name value; };
  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  hasSuffix =
    suffix: text:
    let
      from = stringLength text - stringLength suffix;
    in
    from >= 0 && substring from (stringLength suffix) text == suffix;
  escaped = replaceStrings [ "." "+" ] [ "\\." "\\+" ];

  # Keeps what can be built: the vendors' archives are out of reach where this is used; the test has packed an archive
  # of a JDK that a registry has too. To evaluate, nothing needs to be in reach.
  withinReach =
    path: value:
    if host.everything then
      value
    else if baseNameOf path == "jdks.json" then
      value
      // {
        entries = map (
          entry:
          entry
          // {
            archives = builtins.mapAttrs (
              _: archive: archive // { sha256 = host.jdks.${entry.id}; }
            ) entry.archives;
          }
        ) (filter (entry: host.jdks ? ${entry.id}) value.entries);
      }
    else if baseNameOf path == "matrix.toml" then
      value
      // {
        servers = removeAttrs value.servers (
          filter (name: !(elem (value.servers.${name}.artefact or null) ([ null ] ++ host.servers))) (
            attrNames value.servers
          )
        );
      }
    else
      value;
in
{
  inherit
    elem
    elemAt
    filter
    hasPrefix
    length
    listToAttrs
    nameValuePair
    replaceStrings
    ;
  inherit (builtins) any concatMap head;
  mapAttrs = builtins.mapAttrs;
  filterAttrs =
    wanted: set: removeAttrs set (filter (name: !(wanted name set.${name})) (attrNames set));
  hasInfix = infix: text: length (split (escaped infix) text) > 1;
  genAttrs = names: f: listToAttrs (map (name: nameValuePair name (f name)) names);
  mapAttrs' = f: set: listToAttrs (map (name: f name set.${name}) (attrNames set));
  mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
  optionalAttrs = wanted: set: if wanted then set else { };
  optionalString = wanted: text: if wanted then text else "";
  concatStrings = concatStringsSep "";
  concatMapStrings = f: list: concatStringsSep "" (map f list);
  splitString = separator: text: filter isString (split (escaped separator) text);
  removePrefix =
    prefix: text:
    if hasPrefix prefix text then
      substring (stringLength prefix) (stringLength text - stringLength prefix) text
    else
      text;
  removeSuffix =
    suffix: text:
    if hasSuffix suffix text then substring 0 (stringLength text - stringLength suffix) text else text;
  importJSON = path: withinReach path (fromJSON (readFile path));
  importTOML = path: withinReach path (fromTOML (readFile path));
  getExe = package: "${package}/bin/${package.meta.mainProgram}";
  getLib = package: package;
  makeLibraryPath = packages: concatStringsSep ":" (map (package: "${package}/lib") packages);
  licenses = listToAttrs (
    map (name: nameValuePair name { free = true; }) [
      "asl20"
      "classpathException20"
      "epl20"
      "gpl2Only"
    ]
  );
  sourceTypes.binaryNativeCode = { };
  meta.availableOn = platform: package: elem platform.system package.meta.platforms;
}
