#!/bin/sh
# Random histories of two repositories beside a model (git_histories.mjs). GIT_MODEL_STEPS says how
# many pushes, VEDETTE_SEED does a run again.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
command -v git >/dev/null || { echo "ok 1 # SKIP there is no git" && exit 0; }
node "$top/tests/clients/git_histories.mjs" "$(cd "$build" && pwd)/vedette" "$scratch" \
    "${GIT_MODEL_STEPS:-25}" "${VEDETTE_SEED:-$(date +%s)}" ||
    { tail -n 20 "$scratch/err" | sed 's/^/# /' && exit 1; }
