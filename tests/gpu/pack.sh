#!/usr/bin/env bash
# Gathers what tests/gpu/run.sh needs on a machine with a GPU into build/gpu.tar.xz: the test launcher with LLVM inside,
# the cubins that `stepc emit` makes for ARCH (sm_90a), specs, models and a serial BLAS. That machine needs libc and the
# CUDA driver alone.
#   tests/gpu/pack.sh [ARCH]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/setup.sh
arch=${1:-sm_90a} work=build/gpu-pack

setup_packages "${setup_build_packages[@]}"
setup_nvrtc
setup_build portable OFF stepc gpu_launch

# The loader's name for a BLAS that the CPU target takes, and where it lies.
find_blas() {
  ls /usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4 /usr/lib/*/libblis.so.4 2>/dev/null | head -n 1
}

rm -rf "$work"
mkdir -p "$work/tests/models" "$work/lib" "$work/cubins"
strip -o "$work/gpu_launch" build/portable/gpu_launch
# cJSON is in it where the distribution has it as an archive, else goes along.
ldd build/portable/gpu_launch | sed -n 's/.*=> \(.*cjson[^ ]*\) .*/\1/p' | xargs -r -I{} cp -L {} "$work/lib/"
cp -L "$(find_blas)" "$work/lib/"
cp -r specs "$work/"
cp tests/models/*.json "$work/tests/models/"
sed -e 's/"shape"/"dtype": "bf16", "shape"/' -e 's/"name": "gpt2-124m"/"name": "gpt2-124m-bf16"/' \
  tests/models/gpt2-124m.json >"$work/tests/models/gpt2-124m-bf16.json"

# CASE(name, "spec", "model", ...) of cases.def.
sed -n 's/^CASE(\([a-z0-9_]*\), "\([^"]*\)", "\([^"]*\)".*/\1 \2 \3/p' tests/gpu/cases.def |
  while read -r name spec model; do
    build/portable/stepc emit "$work/$spec" --model "$work/$model" --target "cuda:$arch" --emit=cubin \
      -o "$work/cubins/$name" >"$work/cubins/$name.txt"
  done
cat "$work"/cubins/*.txt

tar -C "$work" -cf - . | xz -T0 -6 >build/gpu.tar.xz
ls -l build/gpu.tar.xz
