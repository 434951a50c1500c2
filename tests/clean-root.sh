#!/usr/bin/env bash
# Runs README's two commands, each twice, in a minimal Debian that debootstrap makes: nothing installed, no git, no
# Python. Needs root and debootstrap. SUITE, MIRROR and KEEP=1 (leave the folder) are taken from the environment.
#   tests/clean-root.sh [FOLDER]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || { echo "clean-root: must be root" >&2; exit 3; }
command -v debootstrap >/dev/null || { echo "clean-root: apt-get install debootstrap" >&2; exit 3; }

root=${1:-$(mktemp -d /tmp/clean-root.XXXXXX)}
suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}

clean_up() {
  umount "$root/proc" 2>/dev/null || true
  [ "${KEEP:-0}" = 1 ] || rm -rf "$root"
}
trap clean_up EXIT

[ -x "$root/bin/bash" ] || debootstrap --variant=minbase "$suite" "$root" "$mirror"
# How this machine reaches its package registries holds there too.
for file in /etc/resolv.conf /etc/pip.conf; do
  [ ! -e $file ] || cp -L $file "$root$file"
done
grep -hiE '^ *acquire::' /etc/apt/apt.conf.d/* >"$root/etc/apt/apt.conf.d/90clean-root" 2>/dev/null || true
forward=()
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  [ -z "${!name:-}" ] || forward+=("$name=${!name}")
done
if [ -n "${PIP_CERT:-}" ]; then
  cp -L "$PIP_CERT" "$root/etc/clean-root.crt"
  forward+=(PIP_CERT=/etc/clean-root.crt)
fi
mount -t proc proc "$root/proc"

rm -rf "$root/stepc"
git clone --quiet --depth 1 "file://$PWD" "$root/stepc"

inside() {
  local start=$SECONDS
  echo "== in the clean root: $*"
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    ${forward[@]+"${forward[@]}"} chroot "$root" /bin/bash -c "cd /stepc && $*"
  echo "== $((SECONDS - start)) s: $*"
}
inside bash examples/quickstart.sh
inside bash examples/quickstart.sh 1
inside bash tests/run.sh
inside bash tests/run.sh
