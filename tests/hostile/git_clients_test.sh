#!/bin/sh
# Hostile git clients (git_clients.mjs). VEDETTE_SEED does a run again.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
command -v git >/dev/null || { echo "ok 1 # SKIP there is no git" && exit 0; }
# shellcheck disable=SC3045 # what has no -H has enough, or fails
ulimit -n "$(ulimit -Hn)"
timeout 300 node "$top/tests/hostile/git_clients.mjs" "$(cd "$build" && pwd)/vedette" "$scratch" \
    "${VEDETTE_SEED:-$(date +%s)}" || { tail -n 20 "$scratch/err" | sed 's/^/# /' && exit 1; }
