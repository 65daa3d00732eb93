#!/bin/sh
# Installs the Debian packages that are missing for a purpose.
#
#   tools/packages.sh PURPOSE...
#
# It names what it installs, uses sudo when it is not run by root, and does nothing when all is
# there. Several may run at once (make -j): they wait for each other.
set -eu

packages_for() {
    case $1 in
    build)
        echo gcc g++ libc6-dev make pkg-config meson ninja-build
        echo git # which the server runs, to serve repositories
        echo libsqlite3-dev libyaml-dev libssl-dev libuv1-dev libre2-dev zlib1g-dev libnghttp2-dev
        ;;
    test)
        echo libcmocka-dev nodejs curl jq openssl nghttp2-client python3-kubernetes
        echo json-schema-test-suite golang-go zsh
        ;;
    clang) echo clang ;;
    fuzz) echo "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" ;;
    lint) echo clang-format clang-tidy shellcheck ;;
    cover) echo gcovr ;;
    clients-go) echo golang-k8s-sigs-structured-merge-diff-dev ;;
    *)
        echo "packages.sh: unknown purpose '$1';" \
            "use build, test, clang, fuzz, lint, cover or clients-go" >&2
        return 2
        ;;
    esac
}

# What a package is for may be there without the package (a node from elsewhere, say).
provided() {
    dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed' && return 0
    case $1 in
    nodejs) command -v node >/dev/null ;;
    golang-go) command -v go >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    lib*) return 1 ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_for() {
    for purpose; do
        packages=$(packages_for "$purpose") || return
        for package in $packages; do
            provided "$package" || echo "$package"
        done
    done
}

missing=$(missing_for "$@")
[ -n "$missing" ] || exit 0

# This file is the lock: whoever waited for it finds less missing than before.
exec 9<"$0"
if command -v flock >/dev/null; then
    flock 9
    missing=$(missing_for "$@")
    [ -n "$missing" ] || exit 0
fi

missing=$(echo "$missing" | tr '\n' ' ')
if ! command -v apt-get >/dev/null; then
    echo "packages.sh: no apt-get here; install these (Debian names) yourself: $missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "packages.sh: not root and no sudo; as root, run: apt-get install $missing" >&2
        exit 1
    }
    as_root=sudo
fi
echo "installing: $missing"
install() {
    # shellcheck disable=SC2086 # the list is words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install >"$log" 2>&1 || { $as_root apt-get update -q >>"$log" 2>&1 && install >>"$log" 2>&1; } || {
    cat "$log" >&2
    echo "packages.sh: could not install: $missing" >&2
    exit 1
}
