#!/bin/sh
# The short version of `make torture`: watches that are cut and resumed 300 times, while writers
# write, the server dies and compaction runs, miss nothing and see nothing twice.
set -u
build=${1:?usage: resume_torture_test.sh BUILD_DIR [RESUMES]}
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || {
    echo "ok 1 # SKIP no node here"
    echo "1..1"
    exit 0
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
node "$here/resume_torture.mjs" "$build/vedette" "$scratch" "${2:-300}"
status=$?
[ "$status" -eq 0 ] || sed 's/^/# server: /' "$scratch/data.log" | tail -n 20
exit "$status"
