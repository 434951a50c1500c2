#!/usr/bin/env bash
# Sets up, builds and tests.
#   tests/run.sh [quick]   what CI runs: gcc release and clang with ASan and UBSan, format, clang-tidy
#   tests/run.sh fast      the quick tests of the release build alone
#   tests/run.sh fix       formats the sources and rewrites what is generated
#   tests/run.sh long      the long tests, and every fuzzer for FUZZ_SECONDS (600) under ASan and UBSan
#   tests/run.sh tsan | coverage
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. scripts/setup.sh
jobs=$(nproc)
failed=()
closing=()

# step NAME COMMAND...: runs it, says how long it took, remembers a failure and goes on.
step() {
  local name=$1 start=$SECONDS
  shift
  setup_say "$name"
  if "$@"; then
    printf '   %s: ok, %d s\n' "$name" $((SECONDS - start)) >&2
  else
    printf '   %s: FAILED, %d s\n' "$name" $((SECONDS - start)) >&2
    failed+=("$name")
  fi
}

sources() { find compiler runtime tests examples -name '*.[ch]' -not -path 'tests/data/*' | LC_ALL=C sort; }

check_format() { sources | xargs clang-format-19 --dry-run -Werror; }

# A header that needs another one says so itself.
check_headers() {
  sources | grep '\.h$' | xargs -P "$jobs" -I{} gcc -std=c17 -D_GNU_SOURCE -Icompiler -Iruntime -Itests \
    -isystem "$(llvm-config-19 --includedir)" -Wall -Wno-unused-function -Werror -fsyntax-only -x c {}
}

# check_tidy MODE: shallow keeps the analyzer's path search to a sixth of its time; deep is for the long tests.
check_tidy() {
  sources | grep -E '^(compiler|runtime)/.*\.c$' |
    xargs -P "$jobs" -n 4 clang-tidy-19 -p build/debug --quiet --extra-arg=-Xclang --extra-arg=-analyzer-config \
      --extra-arg=-Xclang --extra-arg="mode=$1" 2>/dev/null | grep -v '^$'
  [ "${PIPESTATUS[2]}" = 0 ]
}

# ctest_run PRESET [ARGUMENT...]: leak reports of forked test processes do not reach their exit codes, so any
# sanitizer report is a file, and any file is a failure.
ctest_run() {
  local preset=$1 reports=build/$1/reports log=build/$1/ctest.log status
  rm -rf "$reports" && mkdir -p "$reports"
  ASAN_OPTIONS=detect_leaks=1:log_path=$PWD/$reports/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$PWD/$reports/ubsan \
    TSAN_OPTIONS=log_path=$PWD/$reports/tsan ctest --preset "$@" -j "$jobs" >"$log" 2>&1
  status=$?
  if [ $status != 0 ]; then grep -v -E '^ *[0-9]+/[0-9]+ Test .*Passed|^ *Start ' "$log"; fi
  closing+=("$(grep -E 'tests passed|^Total Test time' "$log")")
  if [ -n "$(ls -A "$reports")" ]; then
    head -n 60 "$reports"/*
    echo "sanitizer reports: $reports"
    status=1
  fi
  return $status
}

# fuzz_one HARNESS: one line on how it went; on a finding its report and exit code 1.
fuzz_one() {
  local name=${1##*/} seconds=${FUZZ_SECONDS:-600} log=build/fuzz/${1##*/}.log status=0 runs
  mkdir -p "build/fuzz/corpus/$name"
  "$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" $(cat "$1.seeds") >"$log" 2>&1 || status=1
  [ $status = 0 ] || tail -n 60 "$log"
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$name: $([ $status = 0 ] && echo clean || echo FINDING), ${runs:-?} runs in $seconds s" | tee -a build/fuzz/summary
  return $status
}

fuzz_all() {
  rm -f build/fuzz/summary
  export -f fuzz_one
  find build/fuzz -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | LC_ALL=C sort |
    xargs -P "$jobs" -I{} bash -c 'fuzz_one {}'
  local status=$?
  [ -s build/fuzz/summary ] || { echo "no fuzzer was built"; return 1; }
  closing+=("$(cat build/fuzz/summary)")
  return $status
}

finish() {
  [ ${#closing[@]} = 0 ] || printf '%s\n' "${closing[@]}"
  [ ${#failed[@]} = 0 ] && exit 0
  printf 'FAILED: %s\n' "${failed[*]}" >&2
  exit 1
}

mode=${1:-quick}
setup_packages "${setup_build_packages[@]}" "${setup_test_packages[@]}" || exit 3
setup_venv scripts/requirements-test.txt || exit 3
setup_nvrtc || exit 3

case $mode in
quick)
  step "build release (gcc)" setup_build release ON
  step "build debug (clang, ASan and UBSan)" setup_build debug ON
  [ ${#failed[@]} = 0 ] || finish
  step "format" check_format
  step "headers stand alone" check_headers
  step "clang-tidy" check_tidy shallow
  step "quick tests, debug" ctest_run debug
  step "quick tests, release" ctest_run release
  ;;
fast)
  setup_build release ON || exit 1
  step "quick tests, release" ctest_run release
  ;;
fix)
  sources | xargs clang-format-19 -i
  setup_build release ON stepc || exit 1
  build/release/stepc version --man >compiler/tool/stepc.1
  build/release/stepc emit specs/gpt.opt --model tests/models/gpt2-124m.json --target cpu:x86-64-v3 --emit=phases,llvm \
    -o generated/gpt2-124m
  for spec in gpt lion sgd; do # adamw and muon are in gpt
    build/release/stepc emit specs/$spec.opt --model tests/models/gpt2-124m.json --emit=cuda -o generated/gpt2-124m
  done
  build/release/stepc emit specs/gpt.opt --model tests/models/gpt2-124m.json --target cuda:sm_90a --emit=plan --offload host \
    -o generated/gpt2-124m
  ;;
long)
  setup_build release ON || exit 1
  setup_build fuzz ON || exit 1
  setup_build debug ON || exit 1
  step "clang-tidy, deep" check_tidy deep
  step "long tests, release" ctest_run long
  step "fuzzers" fuzz_all
  ;;
tsan)
  setup_build tsan ON || exit 1
  step "race programs, ThreadSanitizer" ctest_run tsan
  ;;
coverage)
  setup_packages gcovr || exit 3
  setup_build coverage ON || exit 1
  find build/coverage -name '*.gcda' -delete # counts of earlier runs
  step "quick tests, counted" ctest_run coverage
  step "coverage report" gcovr --root . --object-directory build/coverage --filter 'compiler/|runtime/' --sort-percentage \
    --txt build/coverage/coverage.txt --print-summary
  ;;
*)
  sed -n '2,7s/^# \?//p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac
finish
