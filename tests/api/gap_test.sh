#!/bin/sh
# Complete after a gap: clients that were away while objects went, and whose cursors have expired by
# the time they come back, learn of every deletion that they missed.
set -u
build=${1:?usage: gap_test.sh BUILD_DIR}
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || {
    echo "ok 1 # SKIP no node here"
    echo "1..1"
    exit 0
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
node "$here/gap.mjs" "$build/vedette" "$scratch"
status=$?
[ "$status" -eq 0 ] || sed 's/^/# server: /' "$scratch/data.log" | tail -n 20
exit "$status"
