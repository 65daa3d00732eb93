#!/bin/sh
# Pushes of 100 and of many files are seen whole (git_atomic.mjs). GIT_ATOMIC_FILES says of how
# many: 10000 is what the documents promise.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
command -v git >/dev/null || { echo "ok 1 # SKIP there is no git" && exit 0; }
# shellcheck disable=SC2154 # $build and $scratch are of tap.sh
node "$(dirname "$0")/git_atomic.mjs" "$(cd "$build" && pwd)/vedette" "$scratch" 100 \
    "${GIT_ATOMIC_FILES:-1000}" || { tail -n 20 "$scratch/err" | sed 's/^/# /' && exit 1; }
