#!/bin/sh
# Installs the Debian packages that are missing for a purpose: build, test, lint, fuzz or cover.
#
#   tools/packages.sh PURPOSE...
#
# It names what it installs, uses sudo when it is not run by root, and does nothing when all is there.
set -eu

packages_for() {
    case $1 in
    build) echo gcc libc6-dev make pkg-config meson ninja-build libsqlite3-dev libyaml-dev ;;
    test) echo libcmocka-dev nodejs ;;
    lint) echo clang-format clang-tidy ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    cover) echo gcovr ;;
    *)
        echo "packages.sh: unknown purpose '$1'; use build, test, lint, fuzz or cover" >&2
        exit 2
        ;;
    esac
}

# What a package is for may be there without the package (a node from elsewhere, say).
provided() {
    dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed' && return 0
    case $1 in
    nodejs) command -v node >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    gcc | make | meson | clang | clang-format | clang-tidy | gcovr) command -v "$1" >/dev/null ;;
    pkg-config) command -v pkg-config >/dev/null ;;
    *) return 1 ;;
    esac
}

missing=
for purpose; do
    for package in $(packages_for "$purpose"); do
        provided "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "packages.sh: this machine has no apt-get; install these (Debian names) yourself:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "packages.sh: not root and no sudo; as root, run: apt-get install$missing" >&2
        exit 1
    }
    as_root=sudo
fi
echo "installing:$missing"
# shellcheck disable=SC2086 # the list is words
install() { DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install >"$log" 2>&1 || { $as_root apt-get update -q >>"$log" 2>&1 && install >>"$log" 2>&1; } || {
    cat "$log" >&2
    echo "packages.sh: could not install:$missing" >&2
    exit 1
}
