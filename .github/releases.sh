#!/usr/bin/env bash
# The runs of all machines, each in a release of its own: results-RUN holds RUN.tar, or its parts RUN.tar.00, RUN.tar.01, …
# where it is larger than the PART_BYTES that a file of a release may have.
set -euo pipefail
shopt -s nullglob

# Add the complete runs that a machine has handed over. Logs stay with the job; cells are compressed one by one, as the
# tool reads them.
add() {
  local packed name
  mkdir -p runs parts
  for packed in packed/complete/*.tar.gz; do
    name=$(basename "$packed" .tar.gz)
    tar --extract --gzip --file "$packed" --directory runs --exclude logs
    find "runs/$name" -path "*/cells/*.json" -exec gzip --force {} +
    tar --create --directory runs -- "$name" | split --bytes="$PART_BYTES" --numeric-suffixes - "parts/$name.tar."
    if [[ ! -e parts/$name.tar.01 ]]; then mv "parts/$name.tar.00" "parts/$name.tar"; fi
    case $(gh release view "results-$name" --json isDraft --jq .isDraft || echo none) in
      false) ;; # a job that is run again; what is published has all its files
      true) # of a job that ended while it created it; `fetch` does not see drafts
        gh release upload "results-$name" "parts/$name".tar* --clobber
        gh release edit "results-$name" --draft=false --latest=false
        ;;
      none) # with its files at once: gh publishes it when it has them all, so that `fetch` finds no release without
        gh release create "results-$name" "parts/$name".tar* --latest=false --title "$name" \
          --notes "A run, without its logs. To show it: cat $name.tar* | tar x && matrix report $name"
        ;;
    esac
  done
}

# Fetch the newest runs into kept/, until they have SITE_CELLS cells together.
fetch() {
  local tag name cells
  mkdir -p kept
  gh release list --limit 1000 --json tagName --jq '.[].tagName' | sort --reverse >tags
  while read -r tag; do
    cells=$(find kept -path "*/cells/*" -type f | wc -l)
    if [[ $tag != results-* || $cells -ge $SITE_CELLS ]]; then continue; fi
    name=${tag#results-}
    mkdir -p "downloaded/$name"
    gh release download "$tag" --pattern "$name.tar*" --dir "downloaded/$name"
    cat "downloaded/$name/$name".tar* | tar --extract --directory kept
    rm -r "downloaded/$name"
  done <tags
}

case $1 in
  add) add ;;
  fetch) fetch ;;
esac
