#!/usr/bin/env bash
# Sets up, builds, and runs the main job: the recipe gpt.opt on the tensors of GPT-2 124M.
#   examples/quickstart.sh [STEPS]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

setup_packages "${setup_build_packages[@]}"
setup_nvrtc
setup_build release OFF stepc

stepc=build/release/stepc
model=tests/models/gpt2-124m.json
show() { printf '\n$ %s\n' "$*"; }

show stepc doctor
$stepc doctor

show stepc check specs/*.opt
$stepc check specs/*.opt

# The first kernel is AdamW's; of its unrolled loop one half is shown.
show "stepc emit specs/gpt.opt --model $model --emit=llvm   (the loop of one kernel)"
$stepc emit specs/gpt.opt --model $model --emit=llvm |
  awk '/phase 1 of 1/ || /per element:/ || /^define/ { print } /^loop:/ { on = 1 } on && !/\.v1[ ,]|\.v1$/ { print } /^  br/ && on { exit }'

show stepc run specs/gpt.opt --model $model --steps "${1:-3}"
$stepc run specs/gpt.opt --model $model --steps "${1:-3}"
