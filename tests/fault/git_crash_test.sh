#!/bin/sh
# The short version of `make crash-git`: pushes to a server that is killed again and again
# (git_crash.mjs). GIT_CRASH_CYCLES says how often, VEDETTE_SEED does a run again.
set -u
build=$(cd "${1:?usage: git_crash_test.sh BUILD_DIR}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
command -v git >/dev/null || { echo "ok 1 # SKIP there is no git" && exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
node "$here/git_crash.mjs" "$build/vedette" "$scratch" "${GIT_CRASH_CYCLES:-6}" \
    "${VEDETTE_SEED:-$(date +%s)}"
status=$?
[ "$status" -eq 0 ] || tail -n 40 "$scratch/err" | sed 's/^/# /'
exit "$status"
