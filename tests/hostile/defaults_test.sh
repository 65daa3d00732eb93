#!/bin/sh
# Hostile memory at default limits: the attacks that were once without bound (memory.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/../api/server.sh"
# shellcheck source=tests/api/identities.sh
. "$top/tests/api/identities.sh"
listen=127.0.0.1:0
# shellcheck disable=SC3045 # what has no -H has enough, or fails
ulimit -n "$(ulimit -Hn)"
pattern=${2:-'^watches with a snapshot|^gets|^bodies of strangers$|^lists$|^bodies that are never'}
set -- --store memory --access-log off --threads 1
start "$@" || exit 1
"$vedette" config print --data data "$@" >config.yaml || exit 1
crew
timeout 500 node "$top/tests/hostile/memory.mjs" . "$http" "$https" "$server" \
    "$top" config.yaml 200 "$pattern" || exit 1
stop
