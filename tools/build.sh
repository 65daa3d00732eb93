#!/bin/sh
# Builds with ninja in a folder that tools/configure.sh has set up, and shows how far it is.
#
#   tools/build.sh FOLDER [TARGET...]
#
# On a terminal that is one line that changes, elsewhere a line for each tenth of the steps. What
# the compiler says is shown in any case. When all is up to date, nothing is.
set -eu
cd "$(dirname "$0")/.."
folder=${1:?usage: tools/build.sh FOLDER [TARGET...]}
shift

cd "$folder" # rather than ninja -C, which says so
if ninja -n "$@" | grep -q '^ninja: no work to do'; then
    exit 0
fi
NINJA_STATUS="building $folder [%f/%t] "
export NINJA_STATUS
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    exec ninja "$@"
fi

# A pipe has no exit status but its last command's: ninja's goes through a file.
status=$(mktemp)
trap 'rm -f "$status"' EXIT
{
    ninja "$@" 2>&1 && echo 0 >"$status" || echo 1 >"$status"
} | awk -v folder="$folder" '
    index($0, "building " folder " [") == 1 && match($0, /\[[0-9]+\/[0-9]+\]/) {
        split(substr($0, RSTART + 1, RLENGTH - 2), count, "/")
        tenth = int(count[1] * 10 / count[2])
        last = count[1] == count[2] - 1 # linking, which takes its time
        if (started && tenth == shown && !last) next
        started = 1
        shown = tenth
        printf "building %s: %d of %d steps\n", folder, count[1], count[2]
        fflush()
        next
    }
    { print; fflush() }'
[ "$(cat "$status")" = 0 ]
