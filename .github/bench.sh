#!/usr/bin/env bash
# What matrix.yml does on a machine of ours. Everything lies in one folder that outlives jobs and checkouts:
#   line/RUN     waits to be measured: the commit and the arguments of `matrix run`, one a line; goes when it is complete
#   results/RUN  what was measured; nothing here ever deletes it
#   changed/RUN  has been measured since it was handed over last; not empty once it is complete
#   handed/ID/RUN, asked/ID  what the workflow run with this id has handed over, and that it has lined up what was asked
#                for: run again, it hands over all of that once more, and lines up nothing
set -euo pipefail
shopt -s nullglob
store=${MATRIX_BENCH:-$HOME/jdk-matrix}
mkdir -p "$store"/{line,results,changed,asked} "$store/handed/$GITHUB_RUN_ID"

# Line up the run that is asked for, unless the same one waits already, and say whether any waits.
line_up() {
  if [[ $ONLY_CONTINUE != true && ! -e $store/asked/$GITHUB_RUN_ID ]]; then
    ask
    touch "$store/asked/$GITHUB_RUN_ID"
  fi
  for _ in "$store"/line/*; do echo "waits=true" >>"$GITHUB_OUTPUT"; done
}

ask() {
  local arguments=(--profile "${PROFILE:-matrix}") names name waiting begun
  if [[ -n $SCENARIO ]]; then arguments=(--scenario "$SCENARIO"); fi
  read -ra names <<<"$JDKS"
  for name in "${names[@]}"; do arguments+=(--jdk "$name"); done
  read -ra names <<<"$EXECUTORS"
  for name in "${names[@]}"; do arguments+=(--executor "$name"); done
  # A person may have mistyped something; the schedule has not.
  if [[ -n $PROFILE$JDKS$EXECUTORS || ${SCENARIO:-in-turn} != in-turn ]]; then nix run .#everything -- plan "${arguments[@]}"; fi
  printf '%s\n' "$GITHUB_SHA" "${arguments[@]}" >"$store/asked-for"
  for waiting in "$store"/line/*; do
    name=${waiting##*/}
    begun=$store/results/$name/run.json
    # What is in turn this week is another scenario than one that began in an earlier one.
    if [[ $SCENARIO == in-turn && -e $begun && $(week "${name:0:8} ${name:9:2}:${name:11:2}") != $(week now) ]]; then
      continue
    fi
    if cmp --silent <(tail --lines +2 "$waiting") <(tail --lines +2 "$store/asked-for"); then
      echo "::notice title=matrix::${waiting##*/} is the same and not complete yet: it goes on, nothing else is begun"
      if [[ ! -e $begun ]]; then mv "$store/asked-for" "$waiting"; fi
      return
    fi
  done
  # Unique over all machines, and fit for the name of a Git tag.
  name=$(date --utc +%Y%m%dT%H%M%SZ)-${SCENARIO:-${PROFILE:-matrix}}-${MACHINE:-bench-1}
  mv "$store/asked-for" "$store/line/${name//[^A-Za-z0-9-]/-}"
}

# The number of the week, as `in_turn` of jdkmatrix/cli/scenarios.py counts it.
week() {
  echo $((($(date --utc --date "$1" +%s) + 86400) / 604800))
}

# Ask doctor in the folder of results, since it looks for space on its disk.
examine() {
  local code=0 doctor="git+file://$PWD#doctor"
  (cd "$store" && nix run "$doctor" -- --markdown) >>"$GITHUB_STEP_SUMMARY" || code=$?
  if [[ $code -gt 2 || ! -s $GITHUB_STEP_SUMMARY ]]; then
    echo "::error title=doctor::ended with $code and no verdict"
    return 1
  elif [[ $code -eq 2 && $FORCE != true ]]; then
    echo "::error title=doctor::this machine is unfit: the summary says why, the input force measures anyway"
    return 1
  fi
}

# Measure what waits, the oldest first, for SLICE_S seconds at most. Whatever is not complete then goes on next time, at
# the commit at which it began: another one would measure its cells again.
measure() {
  local waiting run name left_s code commit arguments failed=0
  # Whoever cancels the job ends the slice. GitHub signals this shell alone, twice, and soon kills everything.
  trap 'trap "" INT TERM; SLICE_S=0; kill $! || true' INT TERM
  for waiting in "$store"/line/*; do
    name=${waiting##*/}
    run=$store/results/$name
    left_s=$((SLICE_S - SECONDS))
    if ((left_s <= 0)); then break; fi
    if [[ ! -e $waiting ]]; then continue; fi # somebody has given it up meanwhile
    { read -r commit && mapfile -t arguments; } <"$waiting"
    if [[ -e $run/run.json ]]; then arguments=(--resume); fi
    touch "$store/changed/$name"
    code=0
    timeout --foreground --preserve-status --kill-after=10m "$left_s" \
      nix run "git+file://$PWD?rev=$commit#everything" -- run "${arguments[@]}" --run "$run" &
    wait $! || code=$?
    if ((SLICE_S == 0)); then # that was the signal
      code=0
      wait $! || code=$?
    fi
    if [[ $code -eq 0 || $code -eq 3 ]]; then
      echo complete >"$store/changed/$name"
      rm --force "$waiting"
      if [[ $code -eq 3 ]]; then
        echo "::warning title=matrix::$name is complete, but with failed or invalid cells: the summary names them"
      fi
    elif [[ $code -eq 130 || $code -eq 143 ]] || ((SECONDS >= SLICE_S)); then
      echo "::notice title=matrix::$name was stopped ($code) and goes on next time"
      break
    else
      echo "::error title=matrix::$name ended with $code; the next job tries again, until line/$name is deleted"
      failed=1
    fi
  done
  return "$failed"
}

# Sum up what was measured since it was handed over last.
sum_up() {
  local marked run code failed=0
  for marked in "$store"/changed/*; do
    run=$store/results/${marked##*/}
    if [[ ! -e $run/run.json ]]; then continue; fi
    code=0
    nix run .#without-parts -- summary --markdown "$run" >>"$GITHUB_STEP_SUMMARY" || code=$?
    if [[ $code -eq 3 ]]; then
      echo "::warning title=matrix::result files are damaged or missing: the summary names them"
    elif [[ $code -ne 0 ]]; then
      failed=1
    fi
  done
  return "$failed"
}

# Pack what was measured since then, and what an earlier attempt handed over, by whether it is complete, and say what
# there is.
pack() {
  local marked name kind
  mkdir -p packed
  for marked in "$store"/changed/* "$store/handed/$GITHUB_RUN_ID"/*; do
    name=${marked##*/}
    if [[ ! -e $store/results/$name/run.json ]] || compgen -G "packed/*/$name.tar.gz" >/dev/null; then continue; fi
    kind=unfinished
    if [[ -s $marked ]]; then kind=complete; fi
    mkdir -p "packed/$kind"
    tar --create --gzip --file "packed/$kind/$name.tar.gz" --directory "$store/results" --exclude 'scratch-*' -- "$name"
    echo "$kind=true" >>"$GITHUB_OUTPUT"
  done
}

# What was packed has been handed over.
handed_over() {
  local packed marked
  for packed in packed/*/*.tar.gz; do
    marked=$store/changed/$(basename "$packed" .tar.gz)
    if [[ -e $marked ]]; then mv "$marked" "$store/handed/$GITHUB_RUN_ID/"; fi
  done
}

case $1 in
  line-up) line_up ;;
  examine) examine ;;
  measure) measure ;;
  sum-up) sum_up ;;
  pack) pack ;;
  handed-over) handed_over ;;
esac
