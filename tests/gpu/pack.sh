#!/usr/bin/env bash
# Gathers what tests/gpu/run.sh needs on a machine with a GPU into build/gpu.tar.xz: the test programs with LLVM inside,
# the cubins that `stepc emit` makes for ARCH (sm_90a), specs, models and a serial BLAS; and the kernels that
# tests/bench/gpu.py measures. That machine needs libc and the CUDA driver alone.
#   tests/gpu/pack.sh [ARCH]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/setup.sh
arch=${1:-sm_90a} work=build/gpu-pack programs=(gpu_kernel gpu_step stepc)

setup_packages "${setup_build_packages[@]}"
setup_nvrtc
setup_build portable OFF "${programs[@]}"

# The loader's name for a BLAS that the CPU target takes, and where it lies.
find_blas() {
  ls /usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4 /usr/lib/*/libblis.so.4 2>/dev/null | head -n 1
}

rm -rf "$work"
mkdir -p "$work/tests/models" "$work/lib" "$work/cubins" "$work/bench"
for program in "${programs[@]}"; do strip -o "$work/$program" "build/portable/$program"; done
# cJSON is in it where the distribution has it as an archive, else goes along.
ldd build/portable/gpu_kernel | sed -n 's/.*=> \(.*cjson[^ ]*\) .*/\1/p' | xargs -r -I{} cp -L {} "$work/lib/"
cp -L "$(find_blas)" "$work/lib/"
cp -r specs "$work/"
cp tests/models/*.json "$work/tests/models/"
sed -e 's/"dtype": "bf16"/"dtype": "bf16", "grad": "f16"/' tests/models/tiny-bf16.json >"$work/tests/models/tiny-f16.json"

# emit SPEC MODEL FOLDER KINDS
emit() { build/portable/stepc emit "$1" --model "$2" --target "cuda:$arch" "--emit=$4" -o "$3" >"$3.txt"; }

# KERNEL_CASE(name, "spec", "model").
sed -n 's/^KERNEL_CASE(\([a-z0-9_]*\), "\([^"]*\)", "\([^"]*\)".*/\1 \2 \3/p' tests/gpu/kernel_cases.def |
  while read -r name spec model; do emit "$work/$spec" "$work/$model" "$work/cubins/$name" cubin; done
cat "$work"/cubins/*.txt

# bench NAME SPEC PARAMETER GRADIENT
bench() {
  printf '{ "format": "stepc-model/1", "name": "bench",\n  "params": [ { "name": "w", "shape": [64, 64], "dtype": "%s", "grad": "%s" } ] }\n' \
    "$3" "$4" >"$work/bench/$1.json"
  emit "$2" "$work/bench/$1.json" "$work/bench/$1" cuda,cubin
}
bench f32 tests/bench/clip.opt f32 f32
bench mixed specs/adamw.opt f32 bf16
bench muon specs/muon.opt f32 f32
bench bf16 tests/bench/adamw_bf16.opt bf16 bf16
git rev-parse --short HEAD >"$work/bench/commit" 2>/dev/null || echo unknown >"$work/bench/commit"

tar -C "$work" -cf - . | xz -T0 -6 >build/gpu.tar.xz
ls -l build/gpu.tar.xz
