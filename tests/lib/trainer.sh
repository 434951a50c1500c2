#!/bin/sh
# usage: trainer.sh TRAINER SPECS
# The example trains: under each optimizer the loss falls to a tenth, and the time to the first step is told.
# Without its specs it says so, and fails.
set -eu
out=$("$1" "$2" 2>&1)
printf '%s\n' "$out"
printf '%s\n' "$out" | awk '
  / loss / { if (!($1 in first)) first[$1] = $5; last[$1] = $5 }
  / first step: [0-9]+ ms$/ { times++ }
  END {
    for (name in first) fell += last[name] < first[name] / 10
    exit !(fell == 2 && times == 2)
  }'
if out=$("$1" /nowhere 2>&1); then
  echo "trained without specs"
  exit 1
fi
printf '%s\n' "$out" | grep -q 'E0001.*/nowhere/adamw.opt'
