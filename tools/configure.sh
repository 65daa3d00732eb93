#!/bin/sh
# Sets a build folder up with meson, unless it already is as wanted.
#
#   tools/configure.sh FOLDER MESON_OPTION...
#
# The folder remembers what it was set up with: the options, this tree's path, meson and the
# compiler. When one of them has changed the folder is made anew, since meson only reconfigures for
# its own files.
set -eu
cd "$(dirname "$0")/.."
folder=${1:?usage: tools/configure.sh FOLDER MESON_OPTION...}
shift

stamp() { stat -L -c '%n %s %Y' "$(command -v "$1")"; }
wanted=$(printf '%s\n' "$(pwd -P)" "$(stamp meson)" "$(stamp "${CC:-cc}")" \
    "CFLAGS=${CFLAGS:-} LDFLAGS=${LDFLAGS:-}" "$@")

record=$folder/configured-with
if [ -f "$folder/build.ninja" ] && [ "$(cat "$record" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
if [ -e "$folder" ] && [ ! -d "$folder/meson-private" ]; then
    # Never remove what is not a build folder: BUILD= may name anything.
    rmdir "$folder" 2>/dev/null || {
        echo "configure.sh: '$folder' is not a build folder; move it away or name another" >&2
        exit 1
    }
fi
rm -rf "$folder"
echo "setting up $folder"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
meson setup "$folder" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
printf '%s\n' "$wanted" >"$record"
