#!/bin/sh
# Hostile memory: what hostile clients can make a server keep is bounded (memory.mjs). With small
# limits, so that each attack is soon at them.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/../api/server.sh"
# shellcheck source=tests/api/identities.sh
. "$top/tests/api/identities.sh"
listen=127.0.0.1:0
# shellcheck disable=SC3045 # what has no -H has enough, or fails
ulimit -n "$(ulimit -Hn)"
pattern=${2:-.}
set -- --store memory --access-log off --threads 1 --tail-bytes 4MiB \
    --limits-user-queued-bytes 8MiB --limits-queued-bytes 64MiB \
    --limits-user-body-bytes 8MiB --limits-body-bytes 64MiB \
    --limits-user-requests 400 --limits-requests 800 --limits-user-watches 1000 \
    --limits-watches 4000
start "$@" || exit 1
"$vedette" config print --data data "$@" >config.yaml || exit 1
crew
timeout 500 node "$top/tests/hostile/memory.mjs" . "$http" "$https" "$server" \
    "$top" config.yaml 50 "$pattern" || exit 1
stop
