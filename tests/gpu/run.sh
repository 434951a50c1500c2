#!/usr/bin/env bash
# The emitted kernels and whole programs on a GPU: their bits against the CPU target's.
#
# On a machine that builds (no GPU needed): tests/gpu/pack.sh          makes build/gpu.tar.xz
# On the machine with the GPU, with that file: bash tests/gpu/run.sh   takes a minute or two
#
# Needs libc and the CUDA driver there, a device of the architecture packed for (sm_90a by default), 18 GB of its memory;
# gpu_step and stepc_bench also NVRTC. gpu_kernel: every kernel alone, pointers and lengths of all kinds. gpu_step: whole
# programs through the runtime. stepc_bench: resident, serial and streamed steps, their times and that their bits are the
# same. Then, where compute-sanitizer is installed, memcheck and racecheck over the kernels. All of it is also in
# ${OUT:-build/gpu}/*.log; the verdicts come last.
# Exit: 0 the same bits everywhere and nothing found, 1 not so, 3 it could not run.
#   bash tests/gpu/run.sh [PROGRAM...]   only those: gpu_kernel, gpu_step, stepc_bench, sanitizer
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 3
out=${OUT:-build/gpu} wanted=("$@")
pack=$PWD/build/gpu.tar.xz
[ -f "$pack" ] || { echo "run.sh: no build/gpu.tar.xz; tests/gpu/pack.sh makes it" >&2; exit 3; }
mkdir -p "$out" || exit 3
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf "$pack" || exit 3
cd "$work" || exit 3
export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} STEPC_LIBRARY_PATH=$work/lib
verdicts=() status=0

# program NAME COMMAND...: runs it into NAME.log and keeps its verdict.
program() {
  local name=$1 code
  shift
  if [ ${#wanted[@]} != 0 ] && ! [[ " ${wanted[*]} " == *" $name "* ]]; then return; fi
  "$@" 2>&1 | tee -a "$out/$name.log"
  code=${PIPESTATUS[0]}
  verdicts+=("$name: $([ "$code" = 0 ] && echo fine || echo "exit $code")")
  if [ "$code" -gt "$status" ]; then status=$code; fi
}

# Small cases: a tool slows a kernel down a hundredfold. Its exit code is 1 where it found something.
sanitize() {
  if ! command -v compute-sanitizer >/dev/null; then
    echo "sanitizer: skipped, no compute-sanitizer on this machine"
    return 0
  fi
  for tool in memcheck racecheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 1 ./gpu_kernel cubins -short kernels_gpt_bf16 kernels_sgd || return 1
  done
}

rm -f "$out"/*.log
program gpu_kernel ./gpu_kernel cubins
program gpu_step ./gpu_step
program stepc_bench ./stepc bench specs/gpt.opt --model tests/models/gpt2-124m.json --target cuda --chunk 64M
program sanitizer sanitize
printf '%s\n' "${verdicts[@]}"
exit "$status"
