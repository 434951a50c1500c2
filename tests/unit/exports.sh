#!/bin/sh
# usage: exports.sh LIBSTEPRT.so
# The shared library shows what steprt.h declares, all of it and nothing else.
set -eu
header=$(dirname "$0")/../../runtime/steprt.h
declared=$(grep -o 'steprt_[a-z_]*(' "$header" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort -u)
if [ "$declared" != "$exported" ]; then
  echo "declared and not exported, or exported and not declared:"
  printf '%s\n%s\n' "$declared" "$exported" | sort | uniq -u
  exit 1
fi
