#!/usr/bin/env bash
# The gpt recipe on GPT-2 124M's tensors: the same digests with 1 and 2 threads, and in a second run.
#   tests/unit/long_digests.sh STEPC
set -eu
digests() {
  "$1" run specs/gpt.opt --model tests/models/gpt2-124m.json --steps 3 --digest --threads "$2" 2>/dev/null
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
digests "$1" 2 >"$work/two"
digests "$1" 1 >"$work/one"
digests "$1" 2 >"$work/again"
[ "$(grep -c '^[0-9a-f]\{64\}  ' "$work/two")" -ge 148 ]
cmp "$work/two" "$work/one"
cmp "$work/two" "$work/again"
