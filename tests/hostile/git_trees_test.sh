#!/bin/sh
# Hostile repositories (git_trees.mjs). VEDETTE_HOSTILE=long makes the large ones larger.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
command -v git >/dev/null || { echo "ok 1 # SKIP there is no git" && exit 0; }
timeout 500 node "$top/tests/hostile/git_trees.mjs" "$(cd "$build" && pwd)/vedette" "$scratch" ||
    { tail -n 20 "$scratch/err" | sed 's/^/# /' && exit 1; }
