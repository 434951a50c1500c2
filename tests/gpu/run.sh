#!/usr/bin/env bash
# The emitted kernels on a GPU: their bits against the CPU target's, their time against a copy on the device.
#
# On a machine that builds (no GPU needed): tests/gpu/pack.sh          makes build/gpu.tar.xz
# On the machine with the GPU, with that file: bash tests/gpu/run.sh   takes a minute or two
#
# Needs libc and the CUDA driver there, a device of the architecture packed for (sm_90a by default), 16 GB of memory.
# Prints a line per case (name, verdict, SHA-256 over what `stepc run --digest` prints for the device's bytes) and per
# measured kernel (bytes, median time, rates as median and range over 21 rounds); the number of cases comes last. All of
# it is also in ${OUT:-build/gpu}/gpu_launch.log. Exit: 0 the same bits everywhere, 1 they differ, 3 it could not run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 3
out=${OUT:-build/gpu}
pack=$PWD/build/gpu.tar.xz
[ -f "$pack" ] || { echo "run.sh: no build/gpu.tar.xz; tests/gpu/pack.sh makes it" >&2; exit 3; }
mkdir -p "$out" || exit 3
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf "$pack" || exit 3
cd "$work" || exit 3
export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} STEPC_LIBRARY_PATH=$work/lib
./gpu_launch cubins 2>&1 | tee "$out/gpu_launch.log"
exit "${PIPESTATUS[0]}"
