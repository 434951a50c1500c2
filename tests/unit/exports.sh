#!/bin/sh
# usage: exports.sh HEADER PREFIX LIBRARY.so
# The shared library shows what its header declares, all of it and nothing else.
set -eu
declared=$(grep -o "$2_[a-z_]*(" "$1" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$3" | awk '{ print $3 }' | sort -u)
if [ "$declared" != "$exported" ]; then
  echo "declared and not exported, or exported and not declared:"
  printf '%s\n%s\n' "$declared" "$exported" | sort | uniq -u
  exit 1
fi
