# Installs what is missing and nothing else; sourced by examples/quickstart.sh and tests/run.sh.
#
# Debian 12 and 13, Ubuntu 24.04 and later, as root or with sudo. Everything is probed first: when all is there,
# neither apt nor pip is called and the whole set-up takes a fraction of a second. What pip brings goes into .venv/
# in the repository.

setup_build_packages=(gcc g++ cmake ninja-build pkg-config ca-certificates llvm-19-dev lld-19 libcjson-dev
  zlib1g-dev libzstd-dev libblis4-serial)
setup_test_packages=(clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 libcriterion-dev
  libopenblas0-serial python3 python3-venv)

setup_say() { printf '== %s\n' "$*" >&2; }
setup_fail() { printf 'setup: %s\n' "$*" >&2; return 1; }

# setup_packages NAME...: apt installs those that dpkg does not have.
setup_packages() {
  local name missing=()
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || { setup_fail "no apt-get here; install by hand: ${missing[*]}"; return 1; }
  local root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { setup_fail "neither root nor sudo; as root: apt-get install ${missing[*]}"; return 1; }
    root=(sudo)
  fi
  setup_say "installing ${missing[*]}"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update >&2 &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
      --no-install-recommends install "${missing[@]}" >&2 ||
    { setup_fail "apt-get could not install ${missing[*]}"; return 1; }
}

# setup_venv FILE: what the requirements file names, in .venv/; the stamp is a copy of that file.
setup_venv() {
  local file=$1 stamp=.venv/.$(basename "$1")
  cmp -s "$file" "$stamp" && return 0
  python3 -c 'import ensurepip, venv' 2>/dev/null || setup_packages python3 python3-venv || return 1
  setup_say "installing $(grep -v '^#' "$file" | tr '\n' ' ')into .venv"
  # pip comes last: without it an earlier run was cut off, and this one mends what is there.
  [ -x .venv/bin/pip ] || python3 -m venv .venv || { setup_fail "python3 -m venv failed"; return 1; }
  .venv/bin/python3 -m pip install --quiet --disable-pip-version-check -r "$file" >&2 ||
    { setup_fail "pip could not install $file"; return 1; }
  cp "$file" "$stamp"
}

# The folder of a CUDA 13 toolkit's NVRTC, or nothing.
setup_find_nvrtc() {
  local lib
  for lib in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.13 /usr/local/cuda-13*/lib64/libnvrtc.so.13 \
    /usr/local/cuda-13*/targets/*/lib/libnvrtc.so.13 /usr/lib/x86_64-linux-gnu/libnvrtc.so.13; do
    [ -e "$lib" ] && { dirname "$lib"; return 0; }
  done
  return 0
}

# NVRTC compiles CUDA kernels without a GPU; pip's wheel stands in where no toolkit is installed.
setup_nvrtc() {
  local dir
  dir=$(setup_find_nvrtc)
  if [ -z "$dir" ]; then
    setup_venv scripts/requirements-nvrtc.txt || return 1
    dir=$(ls -d "$PWD"/.venv/lib/python3*/site-packages/nvidia/cu13/lib | head -n 1)
  fi
  export STEPC_LIBRARY_PATH="${STEPC_LIBRARY_PATH:+$STEPC_LIBRARY_PATH:}$dir"
}

# setup_build PRESET TESTS [TARGET...]: configures and builds. TESTS OFF leaves a folder that has them as it is.
setup_build() {
  local preset=$1 tests=$2 log=build/$1.log
  shift 2
  mkdir -p build
  if [ "$tests" = ON ] || [ ! -f "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" -DSTEPC_TESTS="$tests" >"$log" 2>&1 ||
      { cat "$log" >&2; setup_fail "cmake --preset $preset failed"; return 1; }
  fi
  cmake --build "build/$preset" ${*:+--target "$@"} >"$log" 2>&1 ||
    { grep -v '^\[' "$log" | tail -n 60 >&2; setup_fail "the $preset build failed; all of it: $log"; return 1; }
}
