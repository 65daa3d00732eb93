#!/bin/sh
# Floods of one user leave health and other users alone (fair_floods.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
# Thousands of connections are as many descriptors on either side.
# shellcheck disable=SC3045 # what has no -H has enough, or fails
ulimit -n "$(ulimit -Hn)"
listen=127.0.0.1:0
load=${vedette%/*}/bench/load
start --store memory || exit 1
crew
timeout 500 node "$here/fair_floods.mjs" . "$http" "$https" "$server" "$load" || exit 1

# Bad tokens made few lines: ten a second at most on each loop, and a line for the rest.
lines=$(grep -c 'status=401' err)
refused=$(cat refused)
[ "$lines" -lt $((refused / 2)) ] || { echo "# $lines lines of $refused times 401"; exit 1; }
# The next that is logged, on either loop, tells how many were not.
is_told() {
    as wrong /api >/dev/null
    grep 'refused with 401 or 429 and not logged' err
}
until_true is_told || { echo "# none was held back"; exit 1; }
stop
